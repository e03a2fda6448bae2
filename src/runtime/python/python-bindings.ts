// Checks the values that are injected into a Python runtime or updated there.
import { ConfigError } from "../../core/errors.ts"
import { isThenable, listNames } from "../bindings/binding-names.ts"
import { bindingGuardProblem, guardedCopyProblem, isGuardOnCopiedValue } from "../bindings/method-guards.ts"
import { type Binding, type Bindings, boundValue, isBinding } from "../bindings.ts"
import { bindingOf } from "../handles/peer-objects.ts"
import type { RuntimeName } from "../runtime.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"
import { pythonNameProblem } from "./python-names.ts"
import { isTable, table } from "./tables/table.ts"

/** Returns the bindings to inject. Throws a `ConfigError` that lists every value that cannot be bound. */
export function checkNewBindings(values: Bindings, kernel: KernelSupervisor): Map<string, Binding> {
  const { all, changed } = kernel.knownNames
  const entries = Object.entries(values).map(([name, value]): [string, Binding] => [name, bindingOf(value)])
  const problems = entries.flatMap(([name, binding]) => {
    // A binding that a cell deleted may be injected again.
    if (all.has(name) || (kernel.bindings.has(name) && !changed.has(name))) return `"${name}" is already there`
    if (isThenable(boundValue(binding))) return `"${name}" is a promise: await it before you inject it`
    if (isGuardOnCopiedValue(binding)) return `"${name}" ${guardedCopyProblem}`
    if (isSync(binding)) return `"${name}" ${syncFunction}`
    const problem = pythonNameProblem(name)
    return problem === undefined ? [] : `"${name}" ${problem}`
  })
  if (problems.length > 0) throw new ConfigError(`Nothing was injected: ${problems.join("; ")}.`)
  return new Map(entries)
}

/** Returns the updated bindings. Throws a `ConfigError` that lists every value that cannot be updated. */
export function checkUpdatedBindings(
  values: Record<string, unknown>,
  entries: readonly RuntimeName[],
  kernel: KernelSupervisor,
): Map<string, Binding> {
  const changes = new Map<string, Binding>()
  const problems = Object.entries(values).flatMap(([name, newValue]) => {
    const nextBinding = withNewValue(kernel.bindings.get(name), newValue)
    const problem = updateProblem(name, newValue, entries, kernel) ?? guardProblem(name, nextBinding)
    if (problem !== undefined) return problem
    changes.set(name, nextBinding)
    return []
  })
  if (problems.length > 0) throw new ConfigError(`Nothing was updated: ${problems.join("; ")}.`)
  return changes
}

function updateProblem(
  name: string,
  newValue: unknown,
  entries: readonly RuntimeName[],
  kernel: KernelSupervisor,
): string | undefined {
  const entry = entries.find((each) => each.name === name)
  if (!entry) return `there is no "${name}"; there is ${listNames(entries.map((each) => each.name))}`
  const nextBinding = bindingOf(newValue)
  if (isThenable(boundValue(nextBinding))) return `"${name}" would be a promise: await it first`
  if (isSync(nextBinding)) return `"${name}" ${syncFunction}`
  const kind = kernel.bindings.get(name)?.kind ?? entry.kind
  if (nextBinding.kind === kind || (kind === "variable" && nextBinding.kind === "agent")) return undefined
  return `"${name}" is a ${kind} and cannot become a ${nextBinding.kind}`
}

function isSync(binding: Binding): boolean {
  return binding.kind === "function" && binding.options.sync === true
}

const syncFunction =
  "is bound as sync, which only jsRuntime can do: leave `sync` out; Python calls it without await all the same"

function guardProblem(name: string, binding: Binding): string | undefined {
  const problem = bindingGuardProblem(binding) ?? (isGuardOnCopiedValue(binding) ? guardedCopyProblem : undefined)
  return problem && `"${name}": ${problem}`
}

/** Returns a binding with another value and the old options, unless the value is itself a binding of the same kind. */
function withNewValue(old: Binding | undefined, newValue: unknown): Binding {
  const nextBinding = bindingOf(newValue)
  if (!old || (isBinding(newValue) && nextBinding.kind === old.kind)) return nextBinding
  if (old.kind === "function" && nextBinding.kind === "function") return { ...old, call: nextBinding.call }
  if (old.kind === "type" && nextBinding.kind === "type") return { ...old, type: nextBinding.type }
  if (old.kind !== "variable") return nextBinding
  const value = boundValue(nextBinding)
  // A DataFrame stays a DataFrame.
  return { ...old, value: isTable(old.value) && Array.isArray(value) && !isTable(value) ? table(value) : value }
}
