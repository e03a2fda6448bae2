import assert from "node:assert/strict"
import type { CellExecution, CellNotExecuted, CellOptions, Runtime } from "../../src/runtime/runtime.ts"

/** The value of a cell that must work. */
export async function cellValue(runtime: Runtime, code: string, options?: CellOptions): Promise<unknown> {
  const execution = await runtime.execute(code, options)
  assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
  return execution.value
}

/** The error of an execution that must have failed. */
export function errorOf(execution: CellExecution): CellNotExecuted["error"] {
  assert.ok(!execution.ok, "the cell should have failed")
  return execution.error
}

/** Comes back when everything that is ready, or due within these milliseconds, has run: timers fire in their order. */
export async function settle(milliseconds = 5): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  await new Promise((resolve) => setImmediate(resolve))
}
