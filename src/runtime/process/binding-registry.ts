// The bindings and modules that the host injected into a process runtime. A new child is filled from this registry.
import { types } from "node:util"
import { ConfigError } from "../../core/errors.ts"
import { isThenable, nameProblem } from "../bindings/binding-names.ts"
import { injectedObjectPath } from "../bindings/injected-object-path.ts"
import { bindingGuardProblem, guardedCopyProblem, isGuardOnCopiedValue } from "../bindings/method-guards.ts"
import { type Binding, type Bindings, boundValue, rebind } from "../bindings.ts"
import { encodeJavaScript } from "../handles/codec/javascript-encode.ts"
import { createHostAccess } from "../handles/host-access.ts"
import type { HostAccess } from "../handles/operations.ts"
import { bindingOf, isPeerObject } from "../handles/peer-objects.ts"
import { CannotCross } from "../handles/wire.ts"
import type { Codecs } from "../snapshot/codec.ts"
import type { LoadedModule } from "./child-modules.ts"

export interface BindingRegistry {
  readonly bindings: ReadonlyMap<string, Binding>
  readonly access: HostAccess
  /** The codecs that store the state of host objects. */
  readonly codecs: Codecs
  /** Returns the binding or path of a host object. */
  nameOf(value: object): string | undefined
  /** The loaded modules, by file. */
  readonly modules: Map<string, LoadedModule>
  /** Returns true if the host or a loaded module injected the name. */
  has(name: string): boolean
  /** Converts and checks new bindings; throws if one of them cannot be bound. `sentAtOnce`: the bindings are sent right
   *  away, which finds values that cannot be encoded, so that this need not be tried here. */
  checkNew(given: Bindings, sentAtOnce?: boolean): [string, Binding][]
  /** Converts and checks new values of existing names. Cells may have created some of these names. */
  checkUpdates(values: Record<string, unknown>): [string, Binding][]
  /** Registers bindings and their guards. Returns a function that reverts this. */
  register(entries: readonly [string, Binding][]): () => void
  /** Removes a binding whose value no longer exists. */
  remove(name: string): void
  /** Called on reset. Gated functions that were passed on before then throw when called. */
  resetFunctions(): void
}

export function createBindingRegistry(ambient: ReadonlySet<string>, codecs: Codecs = {}): BindingRegistry {
  const bindings = new Map<string, Binding>()
  const modules = new Map<string, LoadedModule>()
  const { access, registerBinding: permit } = createHostAccess({}, codecs)
  const has = (name: string) => bindings.has(name) || [...modules.values()].some(({ names }) => names.includes(name))

  const bind = (name: string, binding: Binding) => {
    bindings.set(name, binding)
    permit(name, binding)
  }

  return {
    bindings,
    modules,
    has,
    nameOf: (value) => access.functions.findBinding(value)?.name ?? injectedObjectPath(value, bindings),
    access,
    codecs,
    checkNew(given, sentAtOnce = false) {
      const entries = Object.entries(given).map(([name, value]): [string, Binding] => [name, bindingOf(value)])
      const problems = entries.flatMap(([name, binding]) => {
        const problem = nameProblem(name, ambient)
        if (problem !== undefined) return `"${name}" ${problem}`
        if (has(name)) return `"${name}" is already there`
        return bindingProblem(name, binding) ?? (sentAtOnce ? undefined : crossingProblem(name, binding)) ?? []
      })
      if (problems.length > 0) throw new ConfigError(`Nothing was injected: ${problems.join("; ")}.`)
      return entries
    },
    checkUpdates(values) {
      const entries = Object.entries(values).map(([name, given]): [string, Binding] => {
        const old = bindings.get(name)
        return [name, old ? rebind(old, given) : bindingOf(given)]
      })
      const problems = entries.flatMap(([name, binding]) => {
        const old = bindings.get(name)
        const kind = old && incompatibleKind(old, values[name])
        if (kind !== undefined) return `"${name}" is a ${old?.kind} and cannot become a ${kind}`
        if (!old && binding.kind === "function") return `"${name}" was made by a cell and cannot become a host function`
        return bindingProblem(name, binding) ?? []
      })
      if (problems.length > 0) throw new ConfigError(`Nothing was updated: ${problems.join("; ")}.`)
      return entries
    },
    register(entries) {
      const before = entries.map(([name]) => [name, bindings.get(name)] as const)
      for (const [name, binding] of entries) bind(name, binding)
      return () => {
        for (const [name, binding] of before) {
          if (binding) bind(name, binding)
          else bindings.delete(name)
        }
      }
    },
    remove: (name) => void bindings.delete(name),
    resetFunctions() {
      access.functions.reset()
      for (const [name, binding] of bindings) bind(name, binding)
    },
  }
}

function bindingProblem(name: string, binding: Binding): string | undefined {
  const value = boundValue(binding)
  if (isThenable(value)) return `"${name}" is a promise: await it first`
  if (binding.kind === "function" && binding.options.sync) {
    return `"${name}" is bound as sync, which only jsRuntime can do: leave \`sync\` out, and await it in cells`
  }
  if (isGuardOnCopiedValue(binding)) return `"${name}" ${guardedCopyProblem}`
  const unguarded = bindingGuardProblem(binding)
  return unguarded && `"${name}": ${unguarded}`
}

/** Returns why a value cannot be sent, so that `inject` reports it before a child is started. */
export function crossingProblem(name: string, binding: Binding): string | undefined {
  try {
    encodeJavaScript(boundValue(binding), name, {
      isHandle: isPeerObject,
      encodeReference(live, where) {
        if (types.isPromise(live)) throw new CannotCross(`${where} is a promise: await it first`)
        return {}
      },
    })
    return undefined
  } catch (error) {
    if (error instanceof CannotCross) return error.message
    throw error
  }
}

/** Returns the kind of a new value if the binding cannot change to that kind. A variable may become an agent, and may
 *  hold a function if it held one before. */
function incompatibleKind(old: Binding, given: unknown): Binding["kind"] | undefined {
  const { kind } = bindingOf(given)
  if (kind === old.kind) return undefined
  const isAllowed = old.kind === "variable" && (kind === "agent" || typeof old.value === "function")
  return isAllowed ? undefined : kind
}
