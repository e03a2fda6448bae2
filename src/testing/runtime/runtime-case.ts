// What the cases of the runtime suite are made of: checks, and the trial they run in.
import assert from "node:assert/strict"
import type { CellExecuted, CellExecution, CellNotExecuted, CellOptions, Runtime } from "../../runtime/runtime.ts"

export type Language = Runtime["language"]

/** One promise of a runtime, and its check. */
export interface RuntimeCheck {
  promise: string
  check(trial: RuntimeTrial): Promise<void>
}

export function runtimeCase(promise: string, check: RuntimeCheck["check"]): RuntimeCheck {
  return { promise, check }
}

export type Code = Record<Language, string>

export interface RuntimeTrial extends AsyncDisposable {
  readonly runtime: Runtime
  readonly language: Language
  /** Creates another runtime, which is closed with this one. */
  another(): Promise<Runtime>
  execute(code: Code, options?: CellOptions): Promise<CellExecution>
  /** Executes a cell that must succeed. */
  ran(code: Code, options?: CellOptions): Promise<CellExecuted>
  /** Executes a cell that must succeed, and returns its value. */
  value(code: Code, options?: CellOptions): Promise<unknown>
  /** Executes a cell that must fail. */
  failed(code: Code, options?: CellOptions): Promise<CellNotExecuted>
  /** Fails unless an expression is true in the runtime. */
  holds(expression: Code): Promise<void>
}

export async function createRuntimeTrial(
  make: () => Runtime | Promise<Runtime>,
  language: Language,
): Promise<RuntimeTrial> {
  const runtime = await make()
  assert.equal(runtime.language, language)
  const open = [runtime]
  const trial: RuntimeTrial = {
    runtime,
    language,
    async another() {
      const other = await make()
      open.push(other)
      return other
    },
    execute: (code, options) => runtime.execute(code[language], options),
    async ran(code, options) {
      const execution = await trial.execute(code, options)
      assert.ok(execution.ok, execution.ok ? "" : `${execution.error.message}\nin:\n${code[language]}`)
      return execution
    },
    value: async (code, options) => (await trial.ran(code, options)).value,
    async failed(code, options) {
      const execution = await trial.execute(code, options)
      assert.ok(!execution.ok, `The cell should have failed:\n${code[language]}`)
      return execution
    },
    async holds(expression) {
      assert.equal(await trial.value(expression), true, expression[language])
    },
    async [Symbol.asyncDispose]() {
      for (const each of open) await each.close()
    },
  }
  return trial
}

/** Returns a cell with the same text in both languages. */
export function sameInBoth(code: string): Code {
  return { typescript: code, python: code }
}
