// karst/testing: conformance suites for runtimes, stores, backends and workspaces, and replays.
import { checkOptionNames } from "./core/checks/check-options.ts"
import type { Runtime } from "./runtime/runtime.ts"
import { declareCases } from "./testing/declare-cases.ts"
import { callCases } from "./testing/runtime/runtime-calls.ts"
import { createRuntimeTrial, type Language } from "./testing/runtime/runtime-case.ts"
import { cellCases } from "./testing/runtime/runtime-cells.ts"
import { finishCases } from "./testing/runtime/runtime-finish.ts"
import { keepingCases } from "./testing/runtime/runtime-keeping.ts"
import { nameCases } from "./testing/runtime/runtime-names.ts"
import { stopCases } from "./testing/runtime/runtime-stops.ts"
import { valueCases } from "./testing/runtime/runtime-values.ts"
import { withTimeLimit } from "./testing/time-limit.ts"

export { backendJobHandler } from "./testing/backend/backend-handle.ts"
export { type BackendCase, type BackendSuite, testBackend } from "./testing/backend.ts"
export {
  type HandleCaseInfo,
  type HandleSuite,
  handleCases,
  testHandles,
} from "./testing/handles.ts"
export type { Divergence } from "./testing/replay/replay-steps.ts"
export { assertReplays, type ReplayCheckOptions, type Replayed, replayRecording } from "./testing/replay.ts"
export { type StoreCase, type StoreSuite, testStore } from "./testing/store.ts"
export { testWorkspace, type WorkspaceCase, type WorkspaceSuite } from "./testing/workspace.ts"

/** Declares one test. The `test` functions of node:test and vitest fit, and any other whose tests receive a context
 *  with `skip`; without `skip` in the options, any test function fits. */
export type DeclareTest = (
  title: string,
  body: (context: { skip(reason?: string): unknown }) => Promise<void>,
) => unknown

export interface RuntimeSuite {
  /** The `test` function of the test runner. */
  test: DeclareTest
  /** Creates a new, empty runtime. Each test creates its own and closes it. */
  runtime: () => Runtime | Promise<Runtime>
  /** The language of the runtime's cells. */
  language: Language
  /** Cases this runtime does not pass, by name, with the reason. */
  skip?: { [C in RuntimeCase]?: string | undefined } | undefined
}

/** The name of a case of `testRuntime`: the first word of its title. */
export type RuntimeCase = keyof typeof cases

/** Declares the conformance tests of the `Runtime` contract, one test per promise. */
export function testRuntime(suite: RuntimeSuite): void {
  checkOptionNames("testRuntime()", suite, "test", "runtime", "language", "skip")
  declareCases(suite, cases, async ({ check }) => {
    await using trial = await createRuntimeTrial(suite.runtime, suite.language)
    await withTimeLimit(check(trial))
  })
}

const cases = { ...cellCases, ...valueCases, ...nameCases, ...callCases, ...stopCases, ...finishCases, ...keepingCases }
