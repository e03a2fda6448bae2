// The type gate of a runtime whose values live in this process.
import type { ActionError } from "../../core/event.ts"
import { guardEntries } from "../bindings/method-guards.ts"
import { type Binding, boundValue, variable } from "../bindings.ts"
import type { ParsedCell } from "../compiler/parse-cell.ts"
import { declareBindings } from "../declare/declare-bindings.ts"
import type { Namespace } from "../js/namespace.ts"
import { unwrapObjectProxy, unwrapProxy } from "../js/proxies/function-proxy.ts"
import type { CellExecution, TypeGateMode } from "../runtime.ts"
import { createTypeGate, type GateVerdict } from "../type-gate.ts"

export interface CellTypeGate {
  /** Returns an error if the cell must not run. */
  check(cell: ParsedCell): ActionError | undefined
  /** Adds the hints to the execution, and stores the types of the names that the cell declared. */
  recordExecution(execution: CellExecution): CellExecution
}

/** Rejects with a `MissingPackageError` if TypeScript 7 is not installed. */
export type OpenCellTypeGate = (mode: Exclude<TypeGateMode, "off">) => Promise<CellTypeGate>

export function createInProcessTypeGate(namespace: Namespace, ambient: ReadonlySet<string>): OpenCellTypeGate {
  const gate = createTypeGate()
  const declarationsFor = createDeclarationCache(namespace)
  const currentValues = () => new Map(Object.entries(namespace.scope))
  return async (mode) => {
    await gate.open()
    let verdict: GateVerdict | undefined
    return {
      check(cell) {
        const bindings = namespace.bindingsToDescribe(undefined)
        const values = currentValues()
        const guarded = findGuardedObjects(bindings, values)
        // Inspect the guarded objects themselves, not their proxies.
        const liveValues = new Map([...values, ...guarded.map(({ name, value }) => [name, value] as const)])
        const promiseMethods = new Map(guarded.map(({ name, methods }) => [name, methods]))
        const declarations = declarationsFor(bindings)
        verdict = gate.check(cell, mode, { declarations, values, liveValues, promiseMethods, ambient })
        return verdict.error
      },
      recordExecution(execution) {
        verdict?.rememberTypes(currentValues())
        const { hints = [] } = verdict ?? {}
        return hints.length > 0 ? { ...execution, hints: [...hints, ...(execution.hints ?? [])] } : execution
      },
    }
  }
}

/** Returns the guarded objects whose names still hold them. */
function findGuardedObjects(bindings: ReadonlyMap<string, Binding>, values: ReadonlyMap<string, unknown>) {
  return [...bindings].flatMap(([name, binding]) => {
    if (binding.kind !== "variable" || !binding.guard) return []
    const value = values.get(name)
    const real = unwrapObjectProxy(value)
    if (real === value) return []
    return { name, value: real, methods: new Set(guardEntries(binding.guard).map(([method]) => method)) }
  })
}

/** Returns the declarations of the injected values. They are created again only if a value has changed. */
function createDeclarationCache(namespace: Namespace): (bindings: ReadonlyMap<string, Binding>) => string {
  const prototypes = new Map<string, unknown>()
  let last: { values: Map<string, unknown>; text: string } | undefined

  // The written type no longer applies after a cell has assigned a value of another kind.
  const withCurrentType = (name: string, binding: Binding): Binding => {
    if (binding.kind === "function") {
      const value = namespace.scope[name]
      // A function that a cell assigned does not pass the call gate, and may return no promise.
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
    const text = declareBindings(
      new Map([...bindings].map(([name, binding]) => [name, withCurrentType(name, binding)])),
    )
    last = { values, text }
    return text
  }
}

function hasSameValue(last: { values: Map<string, unknown> } | undefined, name: string, value: unknown): boolean {
  return last?.values.has(name) === true && Object.is(last.values.get(name), value)
}
