import assert from "node:assert/strict"
import { after } from "node:test"
import type { Bindings } from "../../../src/runtime/bindings.ts"
import { type PythonRuntime, type PythonRuntimeOptions, pythonRuntime } from "../../../src/runtime/python.ts"
import type { CellExecuted, CellNotExecuted, CellOptions, Runtime } from "../../../src/runtime/runtime.ts"

/** Creates one runtime for all tests of a `describe`, because a kernel takes most of a second to start. Closes it
 *  afterwards. */
export function sharedRuntime<B extends Bindings>(bindings?: B, options?: PythonRuntimeOptions): Shared<B> {
  const runtime = pythonRuntime(bindings, options)
  after(() => runtime.close())
  return Object.assign(runtime, cellsOf(runtime))
}

export interface Cells {
  ran(code: string, options?: CellOptions): Promise<CellExecuted>
  value(code: string, options?: CellOptions): Promise<unknown>
  failed(code: string, options?: CellOptions): Promise<CellNotExecuted>
}

export type Shared<B extends Bindings> = PythonRuntime<B> & Cells

export function cellsOf(runtime: Runtime): Cells {
  const ran = async (code: string, options?: CellOptions) => {
    const execution = await runtime.execute(code, options)
    assert.ok(execution.ok, execution.ok ? "" : (execution.error.stack ?? execution.error.message))
    return execution
  }
  return {
    ran,
    value: async (code, options) => (await ran(code, options)).value,
    async failed(code, options) {
      const execution = await runtime.execute(code, options)
      assert.ok(!execution.ok, `The cell should have failed:\n${code}`)
      return execution
    },
  }
}
