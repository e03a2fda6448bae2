// The conformance suite for queue backends.
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Backend } from "../engine/backends/backend.ts"
import type { DeclareTest } from "../testing.ts"
import { type BackendCheck, createBackendTrial } from "./backend/backend-case.ts"
import { jobCases } from "./backend/backend-jobs.ts"
import { troubleCases } from "./backend/backend-troubles.ts"

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
  const { test, skip = {} } = suite
  const unknown = Object.keys(skip).filter((name) => !(name in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. There are: ${Object.keys(cases).join(", ")}.`)
  }
  for (const [name, { promise, needs, workers = 2, check }] of Object.entries<BackendCheck>(cases)) {
    const missing = needs && !suite[needs] ? `by design: the suite was given no "${needs}"` : undefined
    const reason = skip[name as BackendCase] ?? missing
    test(`${name}: ${promise}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      await using trial = await createBackendTrial(suite, workers)
      await check(trial)
    })
  }
}

const cases = { ...jobCases, ...troubleCases }
