import {
  type CompiledCell,
  compileCell,
  type LoopGuard,
  type Scope,
} from "../../../src/runtime/compiler/compile-cell.ts"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"

/** A minimal runner of consecutive cells: a scope with only what was added, and a guard that does nothing. */
export interface Repl {
  scope: Scope
  guard: LoopGuard
  compile(code: string): CompiledCell
  /** Runs the cells in order. Returns the value of the last one. */
  run(...cells: string[]): Promise<unknown>
}

export interface ReplOptions {
  ambient?: Record<string, unknown>
  guard?: LoopGuard
}

export function repl(options: ReplOptions = {}): Repl {
  const ambient = {
    globalThis,
    import: (specifier: string, more?: ImportCallOptions) => import(specifier, more),
    ...options.ambient,
  }
  const scope: Scope = Object.create(nothing)
  const constants = new Set<string>()
  const guard = options.guard ?? patientGuard()
  let count = 0
  const compile = (code: string) => {
    const known = new Set(Object.keys(scope))
    const filename = `cell-${++count}.ts`
    return compileCell(parseCell(code), { filename, known, constants, ambient: new Set(Object.keys(ambient)) })
  }
  return {
    scope,
    guard,
    compile,
    async run(...cells) {
      let value: unknown
      for (const code of cells) {
        const cell = compile(code)
        for (const name of cell.declares) constants.delete(name)
        for (const name of cell.constants) constants.add(name)
        value = await cell.run(scope, ambient, guard)
      }
      return value
    },
  }
}

/** Runs cells in a new namespace. Returns the value of the last one. */
export function evaluate(...cells: string[]): Promise<unknown> {
  return repl().run(...cells)
}

/** A guard that never stops anything. */
export function patientGuard(changes: Partial<LoopGuard> = {}): LoopGuard {
  const guard: LoopGuard = {
    left: 1_000_000,
    tick() {
      guard.left = 1_000_000
    },
    resume: (value) => value,
    value: (value) => value,
    fields: (value) => value,
    defaults() {},
    chosen: (value) => value,
    optional: (value) => value,
    optionalMethods: (value) => value,
    ...changes,
  }
  return guard
}

const nothing = new Proxy(Object.create(null), {
  get(_, key) {
    if (typeof key === "symbol") return undefined
    throw new ReferenceError(`${key} is not defined`)
  },
})
