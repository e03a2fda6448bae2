// The table of the chat's slash commands, such as /undo, and the parser and completion of a line that names one.
import { nearestWord } from "../../core/text/nearest-word.ts"

export const slashCommands = {
  help: { usage: "/help", does: "shows the commands and keys" },
  vars: { usage: "/vars", does: "lists the variables of the session" },
  show: { usage: "/show <name>", does: "shows a variable: as a table, a chart or text" },
  output: { usage: "/output", does: "shows the output of the last cell or tool as the model got it" },
  undo: { usage: "/undo", does: "goes back to before the last cell: its variables and its part of the conversation" },
  fork: { usage: "/fork", does: "goes on in a copy of the session; the original stays as it is" },
  model: { usage: "/model [<id>]", does: "shows the model, or changes it from the next prompt on" },
  compact: { usage: "/compact", does: "shortens the conversation before the next prompt" },
  save: { usage: "/save [<file>]", does: "writes the session as JSON" },
  resume: { usage: "/resume [<id>]", does: "lists stored sessions, or goes on with one" },
  cost: { usage: "/cost", does: "shows the tokens and the cost of this chat" },
  skills: { usage: "/skills", does: "lists the skills of the agent" },
  exit: { usage: "/exit", does: "leaves the chat" },
} as const satisfies Record<string, { usage: string; does: string }>

export type SlashName = keyof typeof slashCommands

export type SlashLine = { name: SlashName; argument: string } | { problem: string }

/** Parses a line that begins with a slash; undefined for any other, such as a path or a comment. */
export function parseSlash(line: string): SlashLine | undefined {
  const [found, name = "", argument = ""] = /^\/([\w-]*)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? []
  if (found === undefined) return undefined
  if (isSlashName(name)) return checkArgument(name, argument.trim())
  const near = nearestWord(name, Object.keys(slashCommands))
  const hint = near === undefined ? "" : ` Did you mean /${near}?`
  return { problem: `There is no command /${name}.${hint} /help lists them.` }
}

/** Refuses arguments that a command would ignore: `/undo 3` would go back by one cell. */
function checkArgument(name: SlashName, argument: string): SlashLine {
  const { usage } = slashCommands[name]
  const most = usage.includes("<file>") ? Infinity : usage.includes("<") ? 1 : 0
  const words = argument.split(/\s+/).filter((word) => word !== "")
  if (words.length <= most) return { name, argument }
  return { problem: `Leave out "${words.slice(most).join(" ")}". Write: ${usage}` }
}

/** Returns the commands that begin with what is written. */
export function completeSlash(text: string): string[] {
  const [, begin] = /^\/([\w-]*)$/.exec(text) ?? []
  if (begin === undefined) return []
  return Object.keys(slashCommands)
    .filter((name) => name.startsWith(begin))
    .map((name) => `/${name}`)
}

function isSlashName(name: string): name is SlashName {
  return Object.hasOwn(slashCommands, name)
}
