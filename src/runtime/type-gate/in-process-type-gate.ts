import type { ActionError } from "../../core/event.ts"
import { guardEntries } from "../bindings/method-guards.ts"
import { type Binding, boundValue, variable } from "../bindings.ts"
import type { ParsedCell } from "../compiler/parse-cell.ts"
import { declareBindings } from "../declare/declare-bindings.ts"
import type { Namespace } from "../js/namespace.ts"
import { unwrapObjectProxy, unwrapProxy } from "../js/proxies/function-proxy.ts"
import type { CellExecution, TypeGateMode } from "../runtime.ts"
import { createTypeGate, type GateVerdict } from "../type-gate.ts"

/** The type gate as one cell passes it. */
export interface CellTypeGate {
  /** Why the cell must not run, if so. */
  check(cell: ParsedCell): ActionError | undefined
  /** Adds the hints to its execution, and learns the types of the names it made. */
  recordExecution(execution: CellExecution): CellExecution
}

/** A `MissingPeerError` when TypeScript 7 is not installed. */
export type OpenCellTypeGate = (mode: Exclude<TypeGateMode, "off">) => Promise<CellTypeGate>

/** The gate of a runtime whose namespace lives in this process. */
export function createInProcessTypeGate(namespace: Namespace, ambient: ReadonlySet<string>): OpenCellTypeGate {
  const gate = createTypeGate()
  const declared = createDeclarationCache(namespace)
  const values = () => new Map(Object.entries(namespace.scope))
  return async (mode) => {
    await gate.open()
    let verdict: GateVerdict | undefined
    return {
      check(cell) {
        const bindings = namespace.bindingsToDescribe(undefined)
        const there = values()
        const guarded = findGuardedObjects(bindings, there)
        // The stand-in of a guarded object tells nothing; the object itself does.
        const seen = new Map([...there, ...guarded.map(({ name, value }) => [name, value] as const)])
        const promising = new Map(guarded.map(({ name, methods }) => [name, methods]))
        const declarations = declared(bindings)
        verdict = gate.check(cell, mode, {
          declarations,
          values: there,
          liveValues: seen,
          promiseMethods: promising,
          ambient,
        })
        return verdict.error
      },
      recordExecution(execution) {
        verdict?.rememberTypes(values())
        const { hints = [] } = verdict ?? {}
        return hints.length > 0 ? { ...execution, hints: [...hints, ...(execution.hints ?? [])] } : execution
      },
    }
  }
}

/** The objects with guarded methods that still are what cells find under their names. */
function findGuardedObjects(bindings: ReadonlyMap<string, Binding>, values: ReadonlyMap<string, unknown>) {
  return [...bindings].flatMap(([name, binding]) => {
    if (binding.kind !== "variable" || !binding.guard) return []
    const value = values.get(name)
    const real = unwrapObjectProxy(value)
    if (real === value) return []
    return { name, value: real, methods: new Set(guardEntries(binding.guard).map(([method]) => method)) }
  })
}

/** The declarations of what was injected, made anew only when a name has another value. */
function createDeclarationCache(namespace: Namespace): (bindings: ReadonlyMap<string, Binding>) => string {
  const prototypes = new Map<string, unknown>()
  let last: { values: Map<string, unknown>; text: string } | undefined

  // What an author said no longer holds when a cell has put another kind of thing in its place.
  const stillTrue = (name: string, binding: Binding): Binding => {
    if (binding.kind === "function") {
      const value = namespace.scope[name]
      // A function of a cell's own is not called through the gate, and need not give a promise.
      return binding.options.sync || unwrapProxy(value) !== value ? binding : variable(value, { type: "any" })
    }
    if (binding.kind !== "variable" || binding.type === undefined) return binding
    if (binding.value === null || binding.value === undefined) return binding
    const prototype: unknown = Object.getPrototypeOf(binding.value)
    if (!prototypes.has(name)) prototypes.set(name, prototype)
    return prototypes.get(name) === prototype ? binding : { ...binding, type: undefined }
  }

  return (bindings) => {
    const values = new Map([...bindings].map(([name, binding]) => [name, boundValue(binding)]))
    if (
      last &&
      last.values.size === values.size &&
      values.entries().every(([name, value]) => hasSameValue(last, name, value))
    ) {
      return last.text
    }
    const text = declareBindings(new Map([...bindings].map(([name, binding]) => [name, stillTrue(name, binding)])))
    last = { values, text }
    return text
  }
}

function hasSameValue(last: { values: Map<string, unknown> } | undefined, name: string, value: unknown): boolean {
  return last?.values.has(name) === true && Object.is(last.values.get(name), value)
}
