// The conformance suite for live handles: cells in another process that use objects of the host.

import assert from "node:assert/strict"
import { checkOptionNames } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { DeclareTest } from "../testing.ts"
import { assignmentCases } from "./handles/handles-assignments.ts"
import { awaitCases } from "./handles/handles-awaits.ts"
import { callbackCases } from "./handles/handles-callbacks.ts"
import type { HandleCase, HandleCases } from "./handles/handles-case.ts"
import { classCases } from "./handles/handles-classes.ts"
import { copyCases } from "./handles/handles-copies.ts"
import { functionCases } from "./handles/handles-functions.ts"
import { gateCases } from "./handles/handles-gate.ts"
import { guardCases } from "./handles/handles-guards.ts"
import { implicitCases } from "./handles/handles-implicit.ts"
import { iterationCases } from "./handles/handles-iteration.ts"
import { lifetimeCases } from "./handles/handles-lifetime.ts"
import { memberCases } from "./handles/handles-members.ts"
import { optionalCases } from "./handles/handles-optional.ts"
import { peerCases } from "./handles/handles-peers.ts"
import { shapeCases } from "./handles/handles-shapes.ts"
import { staleCopyCases } from "./handles/handles-stale-copies.ts"
import { valueCases } from "./handles/handles-values.ts"
import { writeBackCases } from "./handles/handles-write-back.ts"
import type { Language } from "./runtime/runtime-case.ts"
import { withTimeLimit } from "./time-limit.ts"

export interface HandleSuite {
  /** The `test` function of the test runner. */
  test: DeclareTest
  /** Runs something after all tests: `after` of node:test, `afterAll` of vitest. */
  after: (close: () => Promise<void>) => unknown
  /** Creates a new, empty runtime. Most cases share one; the suite closes all of them. */
  runtime: () => Runtime | Promise<Runtime>
  /** The language of the runtime's cells. */
  language: Language
  /** Cases this runtime does not pass, by number, with the reason. */
  skip?: { readonly [number: number]: string } | undefined
}

/** Declares one numbered table of tests for all languages. A case that has no meaning in a language is skipped. */
export function testHandles(suite: HandleSuite): void {
  checkOptionNames("testHandles()", suite, "test", "after", "runtime", "language", "skip")
  const { test, after, runtime, language, skip = {} } = suite
  const unknown = Object.keys(skip).filter((number) => !(number in cases))
  if (unknown.length > 0) {
    throw new ConfigError(`No such case to skip: ${unknown.join(", ")}. See \`handleCases\` for the numbers.`)
  }
  const shared = shareRuntime(runtime)
  after(() => shared.close())
  for (const { number, title, notApplicable } of handleCases) {
    const meaningless = notApplicable[language]
    const reason = skip[number] ?? (meaningless && `by design, not applicable: ${meaningless}`)
    test(`#${String(number).padStart(3, "0")} ${title}`, async (context) => {
      if (reason !== undefined) return void context.skip(reason)
      const handleCase = cases[number] ?? assert.fail(title)
      if (!handleCase.ownRuntime) return shared.use((found) => runCase(handleCase, found, number, language))
      await using own = await runtime()
      await runCase(handleCase, own, number, language)
    })
  }
}

/** All cases by group. A case keeps its number forever. */
const handleGroups: { readonly [group: string]: HandleCases } = {
  values: valueCases,
  "shapes of values": shapeCases,
  members: memberCases,
  "missing awaits": awaitCases,
  "optional chains and default values": optionalCases,
  copies: copyCases,
  "writing back": writeBackCases,
  "copies that are out of date": staleCopyCases,
  assignments: assignmentCases,
  "objects of cells": peerCases,
  callbacks: callbackCases,
  "functions of the host": functionCases,
  gate: gateCases,
  guards: guardCases,
  "nothing implicit": implicitCases,
  "lifetime and limits": lifetimeCases,
  iteration: iterationCases,
  "classes and agents": classCases,
}

const cases: HandleCases = Object.assign({}, ...Object.values(handleGroups))

export interface HandleCaseInfo {
  number: number
  group: string
  title: string
  /** The languages in which the case has no meaning, with the reason. */
  notApplicable: { readonly [L in Language]?: string | undefined }
}

/** The cases of `testHandles`. */
export const handleCases: readonly HandleCaseInfo[] = Object.entries(handleGroups).flatMap(([group, found]) =>
  Object.entries(found).map(([number, { title, notApplicable }]) => ({
    number: Number(number),
    group,
    title,
    notApplicable,
  })),
)

/** Shares one runtime between cases, until a case fails: that may leave it in any state. */
function shareRuntime(make: () => Runtime | Promise<Runtime>) {
  let current: Promise<Runtime> | undefined
  const close = async () => {
    const closing = current
    current = undefined
    await (await closing)?.close()
  }
  return {
    close,
    async use(work: (runtime: Runtime) => Promise<void>): Promise<void> {
      current ??= Promise.resolve(make())
      try {
        await work(await current)
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

async function runCase(handleCase: HandleCase, runtime: Runtime, number: number, language: Language): Promise<void> {
  assert.equal(runtime.language, language)
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on("unhandledRejection", note)
  try {
    await withTimeLimit(handleCase.run(runtime, number))
    // Node reports unhandled rejections at the end of the current turn.
    await new Promise(setImmediate)
  } finally {
    process.off("unhandledRejection", note)
  }
  assert.deepEqual(unhandled, [], "A promise of the host was rejected and nothing handled it.")
}
