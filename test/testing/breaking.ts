import type { CallGate, CellExecution, CellNotExecuted, CellOptions, Runtime } from "../../src/runtime/runtime.ts"

/** Replaces members of a correct runtime by faulty ones. */
export type Breaks = (sound: Runtime) => Partial<Runtime>

export function ran(change: (execution: CellExecution) => CellExecution): Breaks {
  return ({ execute }) => ({ execute: async (code, options) => change(await execute(code, options)) })
}

export function changing(change: (execution: Extract<CellExecution, { ok: true }>) => CellExecution): Breaks {
  return ran((execution) => (execution.ok ? change(execution) : execution))
}

export function failing(change: (error: CellNotExecuted["error"]) => CellNotExecuted["error"]): Breaks {
  return ran((execution) => (execution.ok ? execution : { ...execution, error: change(execution.error) }))
}

export function changed(change: (changes: CellExecution["changes"]) => CellExecution["changes"]): Breaks {
  return ran((execution) => ({ ...execution, changes: change(execution.changes) }))
}

export function rewriting(change: (code: string) => string): Breaks {
  return ({ execute }) => ({ execute: (code, options) => execute(change(code), options) })
}

export function refuses(code: RegExp): Breaks {
  return rewriting((text) => (code.test(text) ? "throw new SyntaxError('It is declared already.')" : text))
}

export function withOptions(change: (options: CellOptions) => CellOptions | Promise<CellOptions>): Breaks {
  return ({ execute }) => ({ execute: async (code, options = {}) => execute(code, await change(options)) })
}

export function gated(change: (gate: CallGate) => CallGate): Breaks {
  return withOptions(({ callGate: call, ...options }) => ({ ...options, callGate: call && change(call) }))
}

type AnyFunction = (...args: unknown[]) => unknown

export function values(change: (value: unknown) => unknown): Breaks {
  return ({ inject }) => ({
    inject: (bindings) =>
      inject(Object.fromEntries(Object.entries(bindings).map(([name, value]) => [name, change(value)]))),
  })
}

/** Changes injected functions, but not bindings made by `fn`. */
export function functions(change: (call: AnyFunction) => AnyFunction): Breaks {
  return values((value) =>
    typeof value === "function" ? change((...args) => Reflect.apply(value, undefined, args)) : value,
  )
}

/** Returns a time-out result in time while the cell keeps running. */
export function onlySays({ execute }: Runtime): Partial<Runtime> {
  return {
    async execute(code, { timeoutMs, ...options } = {}) {
      const running = execute(code, options)
      if (timeoutMs === undefined) return running
      const error = { kind: "timeout" as const, message: `It ran longer than ${timeoutMs} ms.` }
      const changes = { created: [], reassigned: [], removed: [] }
      const stopped: CellNotExecuted = {
        ok: false,
        error,
        stdout: "",
        stderr: "",
        output: "",
        durationMs: timeoutMs,
        changes,
      }
      return Promise.race([running, new Promise<CellExecution>((resolve) => setTimeout(resolve, timeoutMs, stopped))])
    },
  }
}
