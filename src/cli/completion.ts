// Finds the words that complete a command line, from the command table.
import type { ArgumentSpec, Command, OptionSpec, OptionSpecs } from "./command.ts"
import { commands, isGroup } from "./commands.ts"
import { commonOptions } from "./parse-command-line.ts"

export interface Candidate {
  word: string
  help: string
}

/** Returns the candidates for the last of the words, which may be empty, or `files` if file names complete it. The
 *  words are those after `karst`. */
export function completeWords(words: readonly string[]): Candidate[] | "files" {
  const before = words.slice(0, -1)
  const last = words.at(-1) ?? ""
  const found = candidatesFor(before, last)
  return found === "files" ? found : found.filter(({ word }) => word.startsWith(last))
}

function candidatesFor(before: readonly string[], last: string): Candidate[] | "files" {
  const [name, ...rest] = before
  if (name === undefined) return [...commands.values()].map(({ name, summary }) => ({ word: name, help: summary }))
  const entry = commands.get(name)
  if (!entry) return name === "help" ? candidatesFor(rest, last) : "files"
  if (!isGroup(entry)) return inCommand(entry, rest, last)
  const command = entry.commands.find((each) => each.name === rest[0])
  if (command) return inCommand(command, rest.slice(1), last)
  return rest.length > 0 ? [] : entry.commands.map(({ name, summary }) => ({ word: name, help: summary }))
}

function inCommand({ options, takes }: Command, before: readonly string[], last: string): Candidate[] | "files" {
  const specs: OptionSpecs = { ...options, ...commonOptions }
  const opened = /^--([\w-]+)$/.exec(before.at(-1) ?? "")?.[1]
  const spec = opened !== undefined && Object.hasOwn(specs, opened) ? specs[opened] : undefined
  if (spec && spec.type !== "flag") return valuesOf(spec)
  if (!last.startsWith("-")) return argumentsOf(takes)
  const used = new Set(before)
  return Object.entries(specs)
    .filter(([name, each]) => !used.has(`--${name}`) || (each.type === "text" && each.multiple))
    .map(([name, { help }]) => ({ word: `--${name}`, help }))
}

function valuesOf(spec: OptionSpec): Candidate[] | "files" {
  if ("choices" in spec) return spec.choices.map((word) => ({ word, help: "" }))
  return spec.type === "text" && spec.files ? "files" : []
}

function argumentsOf(takes: ArgumentSpec | undefined): Candidate[] | "files" {
  if (takes?.choices) return takes.choices.map((word) => ({ word, help: "" }))
  return takes?.files ? "files" : []
}
