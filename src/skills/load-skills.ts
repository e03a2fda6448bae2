// Loads all skills of a list of sources and collects their problems.

import { fileURLToPath } from "node:url"
import { checkOptionNames } from "../core/checks/check-options.ts"
import type { LoadedSkills, Skill, SkillProblem, SkillSource } from "../skills.ts"
import { discoverSkills, type ReportProblem } from "./discover-skills.ts"
import { readSkill } from "./read-skill.ts"

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
