// The options of `karst run` that are stored with a session, so that `karst resume` creates the same agent again.
import { resolve } from "node:path"
import { isRecord } from "../../core/object.ts"
import { safeLine } from "../../display/safe-text.ts"
import type { OptionSpec } from "../command.ts"
import { quoteShellWord } from "../shell-words.ts"
import { agentOptions } from "../table/agent-options.ts"
import type { AgentValues } from "./prepare-agent.ts"
import type { SessionPlace } from "./session-store.ts"

type StoredOptions = { [option: string]: string | number | boolean | string[] }

/** Returns the options that were given, with absolute paths. */
export function optionsToStore(values: AgentValues): StoredOptions {
  const entries = Object.entries(values).flatMap(([name, value]): [string, StoredOptions[string]][] => {
    if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return []
    return [[name, storedValue(name, value)]]
  })
  return Object.fromEntries(entries)
}

function storedValue(name: string, value: StoredOptions[string]): StoredOptions[string] {
  const spec: OptionSpec | undefined = Object.entries(agentOptions).find(([each]) => each === name)?.[1]
  const isPath = spec?.type === "text" && spec.files
  if (Array.isArray(value)) return isPath ? value.map((path) => resolve(path)) : value
  if (name === "system" && typeof value === "string" && value.startsWith("@")) return `@${resolve(value.slice(1))}`
  // An agent may also be a name in the configuration.
  const isName = name === "agent" && typeof value === "string" && !/\.[cm]?[jt]s(#|$)/.test(value)
  return isPath && typeof value === "string" && !isName ? resolve(value) : value
}

/** Returns the given options, and the stored ones where none was given. Stored options of another version are left
 *  out. */
export function mergeStoredOptions(values: AgentValues, stored: unknown): AgentValues {
  if (!isRecord(stored)) return values
  const merged: Record<string, unknown> = { ...values }
  for (const [name, spec] of Object.entries(agentOptions)) {
    const given = merged[name]
    const isGiven = Array.isArray(given) ? given.length > 0 : given !== undefined && given !== false
    if (!isGiven && fits(spec, stored[name])) merged[name] = stored[name]
  }
  // Each value that was put in fits its option.
  return merged as AgentValues
}

/** Returns the words of a command line, each after a space: the place of the session, and the options that a resume of
 *  the session would not find there. */
export function continueOptions(values: AgentValues, place: SessionPlace, { isNew }: { isNew: boolean }): string {
  return `${place.option}${place.isUserFolder && isNew ? "" : optionText(values)}`
}

/** Returns what to say to a person about options of the stored session that are not used, because they were not given
 *  and only those in the user's own folder are used again. Undefined if there are none. */
export function missingOptionsText(values: AgentValues, stored: unknown, place: SessionPlace): string | undefined {
  if (place.isUserFolder) return undefined
  const given: Record<string, unknown> = values
  const missing = Object.entries(mergeStoredOptions(values, stored)).filter(([name, value]) => value !== given[name])
  if (missing.length === 0) return undefined
  return (
    `The session was run with ${safeLine(optionText(Object.fromEntries(missing)))}. These options are not taken from this ` +
    "store. Give them again."
  )
}

function optionText(values: Partial<AgentValues>): string {
  const words = Object.entries(values).flatMap(([name, value]): string[] => {
    if (!Object.hasOwn(agentOptions, name) || value === undefined || value === false) return []
    if (value === true) return [`--${name}`]
    const each = Array.isArray(value) ? value : [value]
    return each.map((part) => `--${name} ${quoteShellWord(String(part))}`)
  })
  return words.map((word) => ` ${word}`).join("")
}

function fits(spec: OptionSpec, value: unknown): boolean {
  switch (spec.type) {
    case "flag":
      return typeof value === "boolean"
    case "text":
      return spec.multiple
        ? Array.isArray(value) && value.every((each) => typeof each === "string")
        : typeof value === "string"
    case "integer":
    case "number":
    case "duration":
      return typeof value === "number"
    case "choice":
      return spec.choices.some((choice) => choice === value)
    case "list":
      return Array.isArray(value) && value.every((each) => spec.choices.includes(each))
  }
}
