import assert from "node:assert/strict"
import type { CellExecution, CellNotExecuted, CellOptions, Runtime } from "../../src/runtime/runtime.ts"

/** Runs a cell that must succeed and returns its value. */
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

/** Waits until all ready work, and all work due within these milliseconds, has run: timers fire in order. */
export async function settle(milliseconds = 5): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  await new Promise((resolve) => setImmediate(resolve))
}
