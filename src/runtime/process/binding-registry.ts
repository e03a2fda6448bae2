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

/** What the host has injected into a runtime whose namespace is in another process: enough to fill a new process. */
export interface BindingRegistry {
  readonly bindings: ReadonlyMap<string, Binding>
  readonly access: HostAccess
  /** How the state of host objects is kept. */
  readonly codecs: Codecs
  /** The binding or path by which a host object is known. */
  nameOf(value: object): string | undefined
  /** The modules that the child has loaded, by file. */
  readonly modules: Map<string, LoadedModule>
  /** Whether a name was injected, by the host or by a module that it loaded. */
  has(name: string): boolean
  /** The bindings of a literal; throws when one of them cannot be bound. `sentAtOnce`: sending them finds the values
   *  that cannot cross, so that they need not be tried here. */
  checkNew(given: Bindings, sentAtOnce?: boolean): [string, Binding][]
  /** The same for new values of existing names, some of which cells may have made. */
  checkUpdates(values: Record<string, unknown>): [string, Binding][]
  /** Registers bindings and their guards. Returns a function that undoes it. */
  register(entries: readonly [string, Binding][]): () => void
  /** Forgets a binding whose value is gone. */
  remove(name: string): void
  /** After a reset: gated functions that were passed on before throw when they are called. */
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
    nameOf: (value) => access.functions.boundBy(value)?.name ?? injectedObjectPath(value, bindings),
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

/** Why a value could not be sent, found when it is injected and not only when a child is started. */
export function crossingProblem(name: string, binding: Binding): string | undefined {
  try {
    encodeJavaScript(boundValue(binding), name, {
      isHandle: isPeerObject,
      reference(live, where) {
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

/** The kind of a new value, where the name is of another kind and cannot take it. A variable may hold an agent or a
 *  function. */
function incompatibleKind(old: Binding, given: unknown): Binding["kind"] | undefined {
  const { kind } = bindingOf(given)
  if (kind === old.kind) return undefined
  const isKept = old.kind === "variable" && (kind === "agent" || typeof old.value === "function")
  return isKept ? undefined : kind
}
