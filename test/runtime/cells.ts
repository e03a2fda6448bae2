import assert from "node:assert/strict"
import type { ExecuteOptions, Execution, NotExecuted, Runtime } from "../../src/runtime/runtime.ts"

/** The value of a cell that must work. */
export async function cellValue(runtime: Runtime, code: string, options?: ExecuteOptions): Promise<unknown> {
  const execution = await runtime.execute(code, options)
  assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
  return execution.value
}

/** The error of an execution that must have failed. */
export function errorOf(execution: Execution): NotExecuted["error"] {
  assert.ok(!execution.ok, "the cell should have failed")
  return execution.error
}

/** Long enough for everything that is ready to run to have run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
}
