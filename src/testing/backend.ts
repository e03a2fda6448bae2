// The conformance suite for queue backends.
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { Backend } from "../engine/backends/backend.ts"
import type { DeclareTest } from "../testing.ts"
import { type BackendCheck, createBackendTrial } from "./backend/backend-case.ts"
import { jobCases } from "./backend/backend-jobs.ts"
import { troubleCases } from "./backend/backend-troubles.ts"
import { declareCases } from "./declare-cases.ts"

export interface BackendSuite {
  /** The `test` function of the test runner. */
  test: DeclareTest
  /** Opens the queue of a folder; each test has its own folder. A backend that runs its own worker processes starts
   *  this number of them, and they handle jobs with `backendJobHandler(backend, folder)`. */
  open: (folder: string, workers: number) => Backend | Promise<Backend>
  /** A module whose export `open` does the same, for a backend that several processes share. */
  module?: string | URL | undefined
  /** Makes the backend's server unavailable; returns a function that brings it back. */
  outage?: (() => Promise<() => Promise<void>>) | undefined
  /** Cases this backend does not pass, by name, with the reason. */
  skip?: { [C in BackendCase]?: string | undefined } | undefined
}

/** The name of a case of `testBackend`: the first word of its title. */
export type BackendCase = keyof typeof cases

/** Declares the conformance tests of the `Backend` contract, one test per promise. */
export function testBackend(suite: BackendSuite): void {
  checkOptionNames("testBackend()", suite, "test", "open", "module", "outage", "skip")
  declareCases<BackendCheck>(suite, cases, async ({ check, workers = 2 }) => {
    await using trial = await createBackendTrial(suite, workers)
    await check(trial)
  })
}

const cases = { ...jobCases, ...troubleCases }
