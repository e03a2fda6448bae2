// The namespace of one runtime: its names, the bindings behind them, and which of them cells changed or used.
import { ConfigError } from "../../core/errors.ts"
import type { NameChanges } from "../../core/event.ts"
import { isObject } from "../../core/object.ts"
import { createNameGenerator, isThenable, listNames, toCheckedBindings } from "../bindings/binding-names.ts"
import { injectedObjectPath } from "../bindings/injected-object-path.ts"
import { bindingGuardProblem } from "../bindings/method-guards.ts"
import { createUsedObjects, injectedObjects, type UsedObjects } from "../bindings/used-objects.ts"
import { type Binding, type Bindings, boundValue, rebind, toBinding, toCellMadeBinding } from "../bindings.ts"
import type { CompiledCell, Scope } from "../compiler/compile-cell.ts"
import { impliedClasses } from "../declare/declaration-block.ts"
import { describeType } from "../declare/inspect-value.ts"
import { sizeOf } from "../preview.ts"
import type { RuntimeLoss, RuntimeName } from "../runtime.ts"
import { type CellDeclaration, type CodeOrigins, createCodeOrigins } from "../snapshot/code-origins.ts"
import type { Codecs } from "../snapshot/codec.ts"
import { createInjectedDigests, type InjectedDigests } from "../snapshot/injected-digests.ts"
import type { UndoImage } from "../snapshot/undo.ts"
import { createBindingProxies } from "./proxies/binding-proxies.ts"
import { unwrapProxy } from "./proxies/function-proxy.ts"
import type { SharedCellState } from "./running-cell.ts"
import { addReassigned, createScopeObject, refuseThenable, shortTypes, takeNameChanges } from "./scope-object.ts"

/** Names of a runtime. No method waits for a cell. */
export interface Namespace {
  /** The object whose properties are the names; `reset` replaces it. */
  readonly scope: Scope
  /** Names that a cell may declare again but not assign to. */
  readonly constants: ReadonlySet<string>
  /** The source of functions and classes that cells declared. */
  readonly origins: CodeOrigins
  inject(bindings: Bindings): void
  update(values: Record<string, unknown>): void
  retrieve(name: string): unknown
  /** The bindings to show in declarations: of all injected names, or of the given ones. */
  bindingsToDescribe(names: readonly string[] | undefined): ReadonlyMap<string, Binding>
  names(): RuntimeName[]
  keep(prefix: string, value: unknown, reservedNames?: readonly string[]): string
  forget(names: readonly string[]): void
  reset(): void
  /** The injected values and their implied classes, as cells see them. */
  boundValues(): Map<string, BoundValue>
  /** The injected bindings, by name. */
  readonly bindings: ReadonlyMap<string, Binding>
  /** The injected objects that cells have used. */
  readonly used: UsedObjects
  /** What the injected values were before cells could change them. */
  readonly digests: InjectedDigests
  /** Called before a cell runs: marks the injected objects that it mentions as used, or all if `mentions()` is
   *  undefined. */
  markMentionedObjectsUsed(mentions: PreparedCell["mentions"]): void
  /** Cell-made values hold these injected objects: a cell that mentions any cell-made name may use them. */
  markHeldByCellValues(names: Iterable<string>): void
  /** The injected bindings, for another runtime. */
  injectedBindings(): Bindings
  /** Adds names as if cells had made them; those in `constantNames` are constants. */
  loadCellNames(values: ReadonlyMap<string, unknown>, constantNames: readonly string[]): void
  /** Records the end of a cell and returns what changed since the previous one ended, without the host's changes. A
   *  cell that began before a reset changed nothing in the current namespace. A cell that ran to its end also
   *  reassigned the names to which its top-level statements assigned an equal value. */
  recordChanges(cell: PreparedCell | undefined, cellScope: Scope, ended: boolean): NameChanges
  /** Returns the short types of the names that a cell created or reassigned. */
  describeTypes(changes: NameChanges): { types?: Record<string, string> }
  /** Takes an image of the namespace, to roll back to. Changes that the host makes later are not rolled back. */
  takeImage(createImage: (scope: Scope) => UndoImage): NamespaceImage
}

export interface BoundValue {
  value: unknown
  /** True for data; false for a function, type or agent. */
  isVariable: boolean
}

/** A compiled cell with the facts that the namespace records about it. */
export interface PreparedCell extends CompiledCell {
  declared: readonly CellDeclaration[]
  /** The names that its top-level statements declare or assign. */
  assigned: readonly string[]
  /** The names that its code mentions; undefined if it may reach any name. */
  mentions(): readonly string[] | undefined
}

export interface NamespaceImage {
  /** Reachable values that the image does not cover. */
  readonly uncaptured: RuntimeLoss[]
  /** Rolls back and returns what could not be restored. */
  restore(): RuntimeLoss[]
  /** Discards the image. */
  drop(): void
}

export function createNamespace(ambient: ReadonlySet<string>, shared: SharedCellState, codecs: Codecs = {}): Namespace {
  let scope = createScopeObject()
  const bindings = new Map<string, Binding>()
  const proxies = createBindingProxies(shared)
  const constants = new Set<string>()
  // Classes of injected instances, bound for convenience; any other use of such a name takes precedence.
  const implied = new Map<string, unknown>()
  // Every name with its value when the last cell ended. A difference means that a cell changed it.
  const lastValues = new Map<string, unknown>()
  const origins = createCodeOrigins()
  const used = createUsedObjects(codecs)
  const digests = createInjectedDigests()
  const heldByCells = new Set<string>()
  const images = new Set<{ names: UndoImage; constants: Set<string> }>()
  shared.pathOf = (value) => injectedObjectPath(unwrapProxy(value) as object, bindings)
  const nameGenerator = createNameGenerator((name) => Object.hasOwn(scope, name))

  const setName = (name: string, value: unknown) => {
    scope[name] = value
    lastValues.set(name, value)
    nameGenerator.markUsed(name)
    for (const { names } of images) names.updateName(name, value)
  }

  const bind = (name: string, binding: Binding) => {
    bindings.set(name, binding)
    setName(name, proxies.get(name, binding))
    const change = binding.kind === "variable" ? "delete" : "add"
    for (const names of [constants, ...[...images].map((image) => image.constants)]) names[change](name)
  }

  const bindImplied = () => {
    for (const [name, type] of impliedClasses(bindings)) {
      if (Object.hasOwn(scope, name) || ambient.has(name)) continue
      setName(name, type)
      implied.set(name, type)
    }
  }

  const isTaken = (name: string) =>
    bindings.has(name) || (Object.hasOwn(scope, name) && !(implied.has(name) && implied.get(name) === scope[name]))

  // The current binding of a name. The host's options apply until a cell replaces the value.
  const currentBinding = (name: string): Binding => {
    const binding = bindings.get(name)
    const value = scope[name]
    if (binding && Object.is(proxies.get(name, binding), value)) return binding
    if (binding?.kind !== "variable") return cellMadeBinding(unwrapProxy(value), value, constants.has(name))
    return { ...binding, value: unwrapProxy(value), guard: undefined }
  }

  // A cell calls its own functions directly, so they are declared as they were written.
  const cellMadeBinding = (value: unknown, held: unknown, constant: boolean): Binding => {
    const made = toCellMadeBinding(value)
    if (made.kind === "variable") return { ...made, constant }
    const source = isObject(value) ? origins.originOf(value)?.source : undefined
    if (made.kind === "type") return { ...made, options: { ...made.options, source } }
    if (made.kind === "function" && value === held) {
      return { ...made, options: { ...made.options, source, sync: true } }
    }
    return made
  }

  const unknownName = (name: string) =>
    new ConfigError(`There is no "${name}" in the runtime. There is ${listNames(Object.keys(scope))}.`)

  const updateProblem = (name: string, value: unknown): string | undefined => {
    if (!Object.hasOwn(scope, name)) return `there is no "${name}"; there is ${listNames(Object.keys(scope))}`
    const next = toBinding(value)
    if (isThenable(boundValue(next))) return `"${name}" would be a promise: await it first`
    const old = bindings.get(name)
    const guardProblem = old && bindingGuardProblem(rebind(old, value))
    if (guardProblem !== undefined) return `"${name}": ${guardProblem}`
    const { kind } = old ?? currentBinding(name)
    if (next.kind === kind || (kind === "variable" && next.kind === "agent")) return undefined
    if (kind === "variable" && typeof scope[name] === "function") return undefined
    return `"${name}" is a ${kind} and cannot become a ${next.kind}`
  }

  const namespace: Namespace & { scope: Scope } = {
    scope,
    constants,
    origins,
    inject(added) {
      const entries = toCheckedBindings(added, isTaken)
      for (const [name, binding] of entries) bind(name, binding)
      for (const [name] of entries) digests.remove(name)
      bindImplied()
    },
    update(values) {
      const problems = Object.entries(values).flatMap(([name, value]) => updateProblem(name, value) ?? [])
      if (problems.length > 0) throw new ConfigError(`Nothing was updated: ${problems.join("; ")}.`)
      digests.addMissing(bindings)
      for (const [name, value] of Object.entries(values)) {
        const old = bindings.get(name)
        if (old) bind(name, rebind(old, value))
        else setName(name, proxies.create(name, toBinding(value)))
      }
      bindImplied()
    },
    retrieve(name) {
      if (!Object.hasOwn(scope, name)) throw unknownName(name)
      return refuseThenable(name, unwrapProxy(scope[name]))
    },
    bindingsToDescribe(names) {
      const missing = names?.find((name) => !Object.hasOwn(scope, name))
      if (missing !== undefined) throw unknownName(missing)
      const described = names ?? [...bindings.keys()].filter((name) => Object.hasOwn(scope, name))
      return new Map(described.map((name) => [name, currentBinding(name)]))
    },
    names: () =>
      Object.keys(scope).map((name): RuntimeName => {
        const binding = currentBinding(name)
        const value = boundValue(binding)
        const type = binding.kind === "agent" ? "Agent" : describeType(value)
        const size = sizeOf(value)
        const injected = bindings.has(name) || implied.has(name)
        return { name, kind: binding.kind, type, injected, ...(size !== undefined && { size }) }
      }),
    keep(prefix, value, reservedNames) {
      const name = nameGenerator.nextName(prefix, reservedNames)
      setName(name, value)
      return name
    },
    forget(names) {
      for (const name of names) {
        if (bindings.has(name)) continue
        delete scope[name]
        lastValues.delete(name)
        constants.delete(name)
      }
    },
    reset() {
      scope = namespace.scope = createScopeObject()
      lastValues.clear()
      constants.clear()
      implied.clear()
      images.clear()
      proxies.clear()
      for (const [name, binding] of bindings) bind(name, binding)
      bindImplied()
    },
    boundValues() {
      const bound = new Map<string, BoundValue>()
      for (const [name, value] of implied) bound.set(name, { value, isVariable: false })
      for (const [name, binding] of bindings) {
        bound.set(name, { value: proxies.get(name, binding), isVariable: binding.kind === "variable" })
      }
      return bound
    },
    bindings,
    used,
    digests,
    markMentionedObjectsUsed(mentions) {
      const objects = injectedObjects(bindings)
      if (objects.length === 0) return
      const mentioned = mentions()
      const mentionsCellNames = mentioned?.some((name) => !bindings.has(name)) ?? true
      for (const { name, value } of objects) {
        if (!mentioned || mentioned.includes(name) || (mentionsCellNames && heldByCells.has(name))) used.markUsed(value)
      }
    },
    markHeldByCellValues(names) {
      for (const name of names) if (bindings.has(name)) heldByCells.add(name)
    },
    injectedBindings: () => Object.fromEntries(bindings),
    loadCellNames(values, constantNames) {
      for (const [name, value] of values) {
        setName(name, value)
        constants.delete(name)
      }
      for (const name of constantNames) if (Object.hasOwn(scope, name)) constants.add(name)
    },
    recordChanges(cell, cellScope, ended) {
      for (const name of cell?.declares ?? []) constants.delete(name)
      for (const name of cell?.constants ?? []) if (Object.hasOwn(cellScope, name)) constants.add(name)
      if (cellScope !== scope) return { created: [], reassigned: [], removed: [] }
      origins.record(cell?.declared ?? [], scope)
      const changes = takeNameChanges(lastValues, scope)
      for (const name of changes.created) nameGenerator.markUsed(name)
      if (cell && ended) addReassigned(changes, cell.assigned, scope)
      for (const name of changes.removed) constants.delete(name)
      const names = used.takeNames(bindings)
      return names.length > 0 ? { ...changes, used: names } : changes
    },
    describeTypes: ({ created, reassigned }) => shortTypes([...created, ...reassigned], scope),
    takeImage(createImage) {
      const imageScope = scope
      const image = { names: createImage(scope), constants: new Set(constants) }
      images.add(image)
      const drop = () => void images.delete(image)
      return {
        uncaptured: image.names.uncaptured,
        drop,
        restore() {
          drop()
          const lost = image.names.restore()
          if (imageScope !== scope) return lost
          constants.clear()
          for (const name of image.constants) constants.add(name)
          takeNameChanges(lastValues, scope)
          return lost
        },
      }
    },
  }
  return namespace
}
