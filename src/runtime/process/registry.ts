import { types } from "node:util"
import { ConfigError } from "../../core/errors.ts"
import { type AnyFunction, type Binding, type Bindings, boundValue, renewed, toBinding } from "../bindings.ts"
import { type BoundFunction, bindFunction } from "../cells/call.ts"
import type { Shared } from "../cells/running-cell.ts"
import { createGuards, guardedCopy, isGuardedCopy, keptGuardProblem } from "../guard.ts"
import { isThenable, nameProblem } from "../names.ts"
import { CannotCross, pack } from "./crossing.ts"
import type { LoadedModule } from "./modules.ts"
import type { Functions } from "./service.ts"

/** What the host has put into a runtime whose namespace is elsewhere: enough to fill a new one. */
export interface Registry extends Functions {
  readonly bindings: ReadonlyMap<string, Binding>
  /** What was loaded there, by file. */
  readonly modules: Map<string, LoadedModule>
  /** Whether a name was put in, by the host or by a module that it loaded. */
  has(name: string): boolean
  /** The bindings of a literal; throws when one of them cannot be bound, whatever the namespace holds. Unless they are sent
   *  at once, which tells the same, also when one of them could not be. */
  check(given: Bindings, sentAtOnce?: boolean): [string, Binding][]
  /** The same for new values of names, of which some may be a cell's. */
  renew(values: Record<string, unknown>): [string, Binding][]
  add(entries: readonly [string, Binding][]): void
  /** After a reset: functions that cells kept from before lead nowhere, and those of the same names start anew. */
  renewFunctions(): void
}

export function createRegistry(ambient: ReadonlySet<string>, shared: Shared): Registry {
  const bindings = new Map<string, Binding>()
  const modules = new Map<string, LoadedModule>()
  const has = (name: string) => bindings.has(name) || [...modules.values()].some(({ names }) => names.includes(name))
  const functions = new Map<string, BoundFunction>()
  const names = new WeakMap<object, string>()
  const guards = createGuards()

  const bind = (name: string, binding: Binding) => {
    bindings.set(name, binding)
    guards.add(name, binding)
    if (binding.kind !== "function") return
    const bound = functions.get(name) ?? bindFunction(name, binding, shared)
    bound.target = binding
    functions.set(name, bound)
    names.set(binding.call, name)
  }

  return {
    bindings,
    modules,
    has,
    guards,
    check(given, sentAtOnce = false) {
      const entries = Object.entries(given).map(([name, value]): [string, Binding] => [name, toBinding(value)])
      const problems = entries.flatMap(([name, binding]) => {
        const problem = nameProblem(name, ambient)
        if (problem !== undefined) return `"${name}" ${problem}`
        if (has(name)) return `"${name}" is already there`
        return bindingProblem(name, binding) ?? (sentAtOnce ? undefined : crossingProblem(name, binding)) ?? []
      })
      if (problems.length > 0) throw new ConfigError(`Nothing was injected: ${problems.join("; ")}.`)
      return entries
    },
    renew(values) {
      const entries = Object.entries(values).map(([name, given]): [string, Binding] => {
        const old = bindings.get(name)
        return [name, old ? renewed(old, given) : toBinding(given)]
      })
      const problems = entries.flatMap(([name, binding]) => {
        const old = bindings.get(name)
        const kind = old && newKind(old, values[name])
        if (kind !== undefined) return `"${name}" is a ${old?.kind} and cannot become a ${kind}`
        if (!old && binding.kind === "function") return `"${name}" was made by a cell and cannot become a host function`
        return bindingProblem(name, binding) ?? []
      })
      if (problems.length > 0) throw new ConfigError(`Nothing was updated: ${problems.join("; ")}.`)
      return entries
    },
    add(entries) {
      for (const [name, binding] of entries) bind(name, binding)
    },
    renewFunctions() {
      functions.clear()
      for (const [name, binding] of bindings) bind(name, binding)
    },
    find: (name) => functions.get(name)?.cellFunction,
    nameOf(value) {
      const name = names.get(value)
      return name !== undefined && functions.get(name)?.target.call === value ? name : undefined
    },
    original: (name): AnyFunction | undefined => functions.get(name)?.target.call,
  }
}

function bindingProblem(name: string, binding: Binding): string | undefined {
  const value = boundValue(binding)
  if (isThenable(value)) return `"${name}" is a promise: await it first`
  if (binding.kind === "function" && binding.options.sync) {
    return `"${name}" is bound as sync, which only jsRuntime can do: leave \`sync\` out, and await it in cells`
  }
  if (isGuardedCopy(binding)) return `"${name}" ${guardedCopy}`
  const unguarded = keptGuardProblem(binding)
  return unguarded && `"${name}": ${unguarded}`
}

/** Why a value could not be sent: told when it is given, and not when the child is started. */
export function crossingProblem(name: string, binding: Binding): string | undefined {
  try {
    pack(
      boundValue(binding),
      (live, where) => {
        if (types.isPromise(live)) throw new CannotCross(`${where} is a promise: await it first`)
        return { type: "function", name: where }
      },
      name,
    )
    return undefined
  } catch (error) {
    if (error instanceof CannotCross) return error.message
    throw error
  }
}

/** What a new value would be, where the name is something else; a variable may hold an agent, or go on holding a function. */
function newKind(old: Binding, given: unknown): Binding["kind"] | undefined {
  const { kind } = toBinding(given)
  if (kind === old.kind) return undefined
  const isKept = old.kind === "variable" && (kind === "agent" || typeof old.value === "function")
  return isKept ? undefined : kind
}
