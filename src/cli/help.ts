// Help texts, made from the command table.
import { wrapWords } from "../core/text/wrap-words.ts"
import { type Command, type CommandGroup, listOf, type OptionSpec } from "./command.ts"
import { commandSections, exitCodes } from "./commands.ts"
import { commonOptions } from "./parse-command-line.ts"

const maxWidth = 100

export function mainHelp(): string {
  const examples = [
    { line: "karst demo", does: "watch a replayed model work on live objects; needs no key" },
    { line: 'karst "How many primes are below 1000?"', does: "run a prompt; the model writes code to find out" },
    { line: 'karst run "Which month was best?" --data sales.csv', does: "your data, as a variable of the session" },
    { line: "karst chat --workspace .", does: "a conversation in the terminal; /help shows its commands" },
    { line: 'karst resume last "And the worst?"', does: "go on with a session; karst sessions list shows them" },
    { line: "karst init --to my-agent", does: "a project with one agent and a test; karst doctor checks the machine" },
    { line: 'karst claude ./objects.ts "Pay the overdue orders"', does: "Claude Code with your live objects" },
  ]
  const sections = commandSections.map(
    ({ title, commands }) => `${title}\n${twoColumns(commands.map(({ name, summary }) => [name, summary]))}`,
  )
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `${code} ${meaning}`)
  return [
    "karst: agents that write code against live objects",
    exampleLines(examples),
    ...sections,
    "karst <command> --help shows examples and options; karst --version the version.",
    `Exit codes: ${codes.join(", ")}.`,
  ].join("\n\n")
}

export function groupHelp(group: CommandGroup): string {
  const rows = group.commands.map((command): Row => [usageOf(command), command.summary])
  const examples = group.commands.flatMap((command) => command.examples.slice(0, 1))
  return [
    `karst ${group.name}: ${group.summary}`,
    twoColumns(rows),
    `Examples\n${exampleLines(examples)}`,
    [
      ...(listOf(group) ? [`karst ${group.name} alone is karst ${group.name} list.`] : []),
      `karst ${group.name} <command> --help shows the options of a command.`,
    ].join(" "),
  ].join("\n\n")
}

export function commandHelp(path: string, command: Command): string {
  const rows = Object.entries({ ...command.options, ...commonOptions }).map(
    ([name, spec]): Row => [optionUsage(name, spec), optionHelp(spec)],
  )
  const [, ...group] = path.split(" ").reverse()
  const usage = ["karst", ...group, usageOf(command)].join(" ")
  return [
    `${usage} [options]`,
    wrapWords(sentence(command.summary), maxWidth).join("\n"),
    ...(command.examples.length > 0 ? [`Examples\n${exampleLines(command.examples)}`] : []),
    `Options\n${twoColumns(rows)}`,
    ...(command.notes ?? []).map((note) => wrapWords(note, maxWidth).join("\n")),
  ].join("\n\n")
}

/** `--model <id>`, `--mode full|short`. */
export function optionUsage(name: string, spec: OptionSpec): string {
  if (spec.type === "flag") return `--${name}`
  if (spec.type === "choice" && spec.choices.join("|").length < 30) return `--${name} ${spec.choices.join("|")}`
  return `--${name} ${spec.type === "choice" ? "<word>" : spec.value}`
}

/** The help of an option with what its usage does not say. */
export function optionHelp(spec: OptionSpec): string {
  if (spec.type === "text" && spec.multiple) return `${spec.help}; can be given several times`
  const isListed = spec.type === "list" || (spec.type === "choice" && spec.choices.join("|").length >= 30)
  return isListed ? `${spec.help}: ${spec.choices.join(", ")}` : spec.help
}

export function usageOf({ name, takes }: Command): string {
  return takes ? `${name} ${takes.usage}` : name
}

export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

type Row = [left: string, right: string]

function exampleLines(examples: Command["examples"]): string {
  return examples.map(({ line, does }) => `  ${line}\n      ${does}`).join("\n")
}

function twoColumns(rows: readonly Row[]): string {
  const column = Math.min(26, Math.max(...rows.map(([left]) => left.length)))
  const indent = " ".repeat(column + 4)
  const lines = rows.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrapWords(right, maxWidth - indent.length)
    const start = left.length > column ? [`  ${left}`, indent + first] : [`  ${left.padEnd(column)}  ${first}`]
    return [...start, ...rest.map((line) => indent + line)]
  })
  return lines.join("\n")
}
