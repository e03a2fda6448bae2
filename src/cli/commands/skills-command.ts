// `karst skills list | validate`.
import { existsSync } from "node:fs"
import { relative } from "node:path"
import { safeText } from "../../display/safe-text.ts"
import { textWidth, truncateToWidth } from "../../display/text-width.ts"
import { loadSkills, type SkillProblem } from "../../skills.ts"
import type { Input } from "../command.ts"
import { printLine, printNotice, printToErrors } from "../print-text.ts"

export async function listSkillsCommand({ positionals }: Input): Promise<number> {
  const folders = positionals.length > 0 ? positionals : defaultFolders.filter((folder) => existsSync(folder))
  const loaded = await loadSkills(folders)
  if (loaded.skills.length === 0) printNotice(`no skills in ${(folders.length ? folders : defaultFolders).join(", ")}`)
  const widest = Math.max(0, ...loaded.skills.map(({ name }) => textWidth(name)))
  for (const { name, description, directory = "" } of loaded.skills) {
    const column = name + " ".repeat(widest - textWidth(name))
    printLine(`${column}  ${truncateToWidth(oneLine(description), 80)}  (${displayPath(directory)})`)
  }
  printProblems(loaded.problems)
  return 0
}

export async function validateSkillsCommand({ positionals }: Input): Promise<number> {
  const { skills, problems } = await loadSkills(positionals)
  for (const { name, directory = "" } of skills) printLine(`ok: ${name} (${displayPath(directory)})`)
  printProblems(problems)
  return skills.length === 0 || problems.some(({ severity }) => severity === "error") ? 1 : 0
}

export function printProblems(problems: readonly SkillProblem[]): void {
  for (const { path, severity, message } of problems) {
    printToErrors(`${severity}: ${oneLine(displayPath(path))}: ${oneLine(message)}`)
  }
}

/** Makes foreign text safe for one line of the terminal. */
function oneLine(text: string): string {
  return safeText(text).replace(/\s+/g, " ")
}

const defaultFolders = ["skills", ".agents/skills", ".claude/skills"]

/** Returns the path relative to the current folder if it is inside. */
export function displayPath(path: string): string {
  const relativePath = relative("", path)
  return relativePath === "" || relativePath.startsWith("..") ? path : relativePath
}
