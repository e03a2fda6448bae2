// Loads all skills of a list of sources and collects their problems.
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { LoadedSkills, Skill, SkillProblem, SkillSource } from "../skills.ts"
import { digestCode } from "./code-digests.ts"
import { discoverSkills, type FoundSkill, type ReportProblem } from "./discover-skills.ts"
import { parseSkillText } from "./front-matter.ts"
import { readWithin } from "./read-within.ts"
import { listSkillFiles, readSkillFile } from "./skill-files.ts"
import { checkSkillProperties, pathProblem } from "./skill-properties.ts"

export async function loadFromSources(sources: readonly SkillSource[]): Promise<LoadedSkills> {
  const problems: SkillProblem[] = []
  const report: ReportProblem = (path, severity, message) => void problems.push({ path, severity, message })
  const skills = new Map<string, Skill>()
  const folders = new Set<string>()

  const add = (skill: Skill, path: string) => {
    const first = skills.get(skill.name)
    if (!first) skills.set(skill.name, skill)
    if (!first || first === skill) return
    const where = first.directory ?? "made in code"
    report(path, "warning", `is left out: a skill "${skill.name}" comes before it (${where})`)
  }

  for (const source of sources) {
    if (typeof source === "object" && "instructions" in source) {
      add(source, source.name)
      continue
    }
    const isPath = typeof source === "string" || source instanceof URL
    if (!isPath) checkOptionNames("loadSkills()", source, "path", "trusted")
    const { path, trusted = false } = isPath ? { path: source } : source
    for (const found of await discoverSkills(path instanceof URL ? fileURLToPath(path) : path, report)) {
      if (folders.has(found.folder)) continue
      folders.add(found.folder)
      const skill = await readSkill(found, trusted, report)
      if (skill) add(skill, found.folder)
    }
  }
  return { skills: [...skills.values()], problems }
}

export function problemText({ path, severity, message }: SkillProblem): string {
  return `${severity === "error" ? "" : "warning: "}${path}: ${message}`
}

/** Reads a skill; undefined if it has an error, which is reported. */
async function readSkill(found: FoundSkill, trusted: boolean, report: ReportProblem): Promise<Skill | undefined> {
  const { folder, root } = found
  const file = join(folder, found.file)
  const read = await readWithin(root, file, maxBytes)
  const text = "problem" in read ? read : await parseSkillText(read.bytes)
  if ("problem" in text) return void report(file, "error", text.problem)
  for (const remark of text.remarks) report(file, "warning", remark)
  const { properties, findings } = checkSkillProperties(text.fields, basename(folder))
  if (text.body === "") findings.push({ severity: "warning", message: "has no instructions below its front matter" })
  for (const { severity, message } of findings) report(file, severity, message)
  if (findings.some(({ severity }) => severity === "error")) return undefined
  const code = await digestCode(folder).catch((error: Error) => error)
  if (code instanceof Error) return void report(folder, "error", code.message)
  return {
    ...properties,
    instructions: text.body,
    directory: folder,
    code,
    trusted,
    files: () => listSkillFiles(folder),
    async read(path) {
      const problem = pathProblem(path)
      if (problem !== undefined) throw new Error(`"${path}" ${problem}`)
      return readSkillFile(folder, path)
    },
  }
}

const maxBytes = 256 * 1024
