// `npm run cli-page` writes the generated parts of docs/cli.md: the commands and exit codes of the command table.
// A test compares them.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Command, type CommandGroup, listOf } from "../src/cli/command.ts"
import { commandSections, exitCodes, isGroup } from "../src/cli/commands.ts"
import { optionHelp, optionUsage, sentence, usageOf } from "../src/cli/help.ts"
import { wrapText } from "../src/display/text-flow.ts"
import { root } from "./tools.ts"

const pagePath = join(root, "docs/cli.md")

if (process.argv[1] === import.meta.filename) writeFileSync(pagePath, cliPage(readFileSync(pagePath, "utf8")))

/** Returns the page with its generated parts replaced. */
export function cliPage(page: string): string {
  const parts = { commands: commandsPart(), "exit codes": exitCodesPart() }
  return Object.entries(parts).reduce((text, [name, part]) => {
    const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(start), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`docs/cli.md lacks the lines ${start} and ${end}.`)
    return `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`
  }, page)
}

function commandsPart(): string {
  return commandSections
    .flatMap(({ title, commands }) => [`## ${title}`, ...commands.flatMap((entry) => entryParts(entry))])
    .join("\n\n")
}

function entryParts(entry: Command | CommandGroup): string[] {
  const heading = `### \`karst ${entry.name}\``
  const more = entry.page ? [`More: [${entry.page.replace(".md", "").replaceAll("-", " ")}](${entry.page}).`] : []
  if (!isGroup(entry)) return [heading, sentence(entry.summary), ...commandParts(entry.name, entry), ...more]
  const parts = entry.commands.flatMap((command) => {
    const path = `${entry.name} ${command.name}`
    const title = wrapText(`**\`karst ${path}\`**: ${command.summary}.`, 120).join("\n")
    return [title, ...commandParts(path, command)]
  })
  const alone = listOf(entry) ? ` \`karst ${entry.name}\` alone is \`karst ${entry.name} list\`.` : ""
  return [heading, wrapText(`${sentence(entry.summary)}${alone}`, 120).join("\n"), ...parts, ...more]
}

function commandParts(path: string, command: Command): string[] {
  const examples = command.examples.map(({ line, does }) => `# ${does}\n${line}`).join("\n")
  const rows = Object.entries(command.options).map(
    ([name, spec]) => `| ${code(optionUsage(name, spec))} | ${cell(optionHelp(spec))} |`,
  )
  const usage = `karst ${path.split(" ").slice(0, -1).concat(usageOf(command)).join(" ")}`
  return [
    `\`\`\`sh\n${[`# usage: ${usage}${rows.length > 0 ? " [options]" : ""}`, examples].join("\n")}\n\`\`\``,
    ...(rows.length > 0 ? [`| option | |\n|---|---|\n${rows.join("\n")}`] : []),
    ...(command.notes ?? []).map((note) => wrapText(note, 120).join("\n")),
  ]
}

function exitCodesPart(): string {
  const rows = Object.entries(exitCodes).map(([number, meaning]) => `| ${number} | ${meaning} |`)
  return `| exit code | meaning |\n|---|---|\n${rows.join("\n")}`
}

function code(text: string): string {
  return `\`${cell(text)}\``
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|")
}
