// `karst skills list | validate`: lists and checks skills.
import { existsSync } from "node:fs"
import { join, relative } from "node:path"
import { safeText } from "../../display/safe-text.ts"
import { textWidth, truncateToWidth } from "../../display/text-width.ts"
import { loadSkills, type SkillProblem, type SkillSource } from "../../skills.ts"
import type { Input } from "../command.ts"
import { printEmptyList } from "../empty-list.ts"
import { printLine, printToErrors } from "../print-text.ts"
import { loadProjectConfig } from "../project-config.ts"

export async function listSkillsCommand({ positionals }: Input): Promise<number> {
  const { sources, where } =
    positionals.length > 0 ? { sources: positionals, where: positionals } : await defaultSources()
  const loaded = await loadSkills(sources)
  if (loaded.skills.length === 0)
    printEmptyList({
      what: "skills",
      where: where.join(", "),
      cure: "Add one: karst skills add <path | git url> --to .karst/skills. Agents of the project are offered it.",
    })
  const widest = Math.max(0, ...loaded.skills.map(({ name }) => textWidth(name)))
  for (const { name, description, directory } of loaded.skills) {
    const column = name + " ".repeat(widest - textWidth(name))
    const where = directory === undefined ? "made in code" : displayPath(directory)
    printLine(`${column}  ${truncateToWidth(oneLine(description), 80)}  (${where})`)
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

/** What agents of the project are offered, and the folders that `karst skills add` and other agents use. */
async function defaultSources(): Promise<{ sources: SkillSource[]; where: string[] }> {
  const { config, resourceFolders } = await loadProjectConfig(undefined)
  const folders = [...resourceFolders.map(({ path }) => join(path, "skills")), ...defaultFolders]
  return {
    sources: [...(config.skills ?? []), ...folders.filter((folder) => existsSync(folder))],
    where: ["`skills` of the configuration", ...folders.map(displayPath)],
  }
}

const defaultFolders = ["skills", ".agents/skills", ".claude/skills"]

/** Returns the path relative to the current folder if it is inside. */
export function displayPath(path: string): string {
  const relativePath = relative("", path)
  return relativePath === "" || relativePath.startsWith("..") ? path : relativePath
}
