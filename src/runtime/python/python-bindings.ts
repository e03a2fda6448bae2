import { ConfigError } from "../../core/errors.ts"
import { isThenable, listNames } from "../bindings/binding-names.ts"
import { bindingGuardProblem, guardedCopyProblem, isGuardOnCopiedValue } from "../bindings/method-guards.ts"
import { type Binding, type Bindings, boundValue, isBinding } from "../bindings.ts"
import { bindingOf } from "../handles/peer-objects.ts"
import type { RuntimeName } from "../runtime.ts"
import type { KernelSupervisor } from "./kernel/kernel-supervisor.ts"
import { pythonNameProblem } from "./python-names.ts"
import { isTable, table } from "./tables/table.ts"

/** The bindings of a literal; a `ConfigError` with all that is wrong when one of them cannot be bound. */
export function checkNewBindings(given: Bindings, { known, bindings }: KernelSupervisor): Map<string, Binding> {
  const entries = Object.entries(given).map(([name, value]): [string, Binding] => [name, bindingOf(value)])
  const problems = entries.flatMap(([name, binding]) => {
    // What a cell has deleted is a binding still, but no longer a name.
    if (known.all.has(name) || (bindings.has(name) && !known.changed.has(name))) return `"${name}" is already there`
    if (isThenable(boundValue(binding))) return `"${name}" is a promise: await it before you inject it`
    if (isGuardOnCopiedValue(binding)) return `"${name}" ${guardedCopyProblem}`
    if (isSync(binding)) return `"${name}" ${syncFunction}`
    const problem = pythonNameProblem(name)
    return problem === undefined ? [] : `"${name}" ${problem}`
  })
  if (problems.length > 0) throw new ConfigError(`Nothing was injected: ${problems.join("; ")}.`)
  return new Map(entries)
}

/** The bindings that an update leaves; the same. */
export function checkUpdatedBindings(
  values: Record<string, unknown>,
  entries: readonly RuntimeName[],
  session: KernelSupervisor,
): Map<string, Binding> {
  const changes = new Map<string, Binding>()
  const problems = Object.entries(values).flatMap(([name, given]) => {
    const next = withNewValue(session.bindings.get(name), given)
    const problem = updateProblem(name, given, entries, session) ?? guardProblem(name, next)
    if (problem !== undefined) return problem
    changes.set(name, next)
    return []
  })
  if (problems.length > 0) throw new ConfigError(`Nothing was updated: ${problems.join("; ")}.`)
  return changes
}

function updateProblem(
  name: string,
  given: unknown,
  entries: readonly RuntimeName[],
  session: KernelSupervisor,
): string | undefined {
  const entry = entries.find((each) => each.name === name)
  if (!entry) return `there is no "${name}"; there is ${listNames(entries.map((each) => each.name))}`
  const next = bindingOf(given)
  if (isThenable(boundValue(next))) return `"${name}" would be a promise: await it first`
  if (isSync(next)) return `"${name}" ${syncFunction}`
  const kind = session.bindings.get(name)?.kind ?? entry.kind
  if (next.kind === kind || (kind === "variable" && next.kind === "agent")) return undefined
  return `"${name}" is a ${kind} and cannot become a ${next.kind}`
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

/** A binding with another value. What was said about the old one holds, unless the new one is wrapped to say more. */
function withNewValue(old: Binding | undefined, given: unknown): Binding {
  const next = bindingOf(given)
  if (!old || (isBinding(given) && next.kind === old.kind)) return next
  if (old.kind === "function" && next.kind === "function") return { ...old, call: next.call }
  if (old.kind === "type" && next.kind === "type") return { ...old, type: next.type }
  if (old.kind !== "variable") return next
  const value = boundValue(next)
  // What was a DataFrame is one again.
  return { ...old, value: isTable(old.value) && Array.isArray(value) && !isTable(value) ? table(value) : value }
}
