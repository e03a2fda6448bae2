// The skills of every agent: those that the configuration names, and the discovered ones.
import { ConfigError } from "../../core/errors.ts"
import { problemText } from "../../skills/load-skills.ts"
import { loadSkills, type Skill, type SkillSource } from "../../skills.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import type { Origin } from "../merge-config.ts"
import { originPlace } from "../read-config-file.ts"

/** Loads the skills that the configuration names and adds the discovered ones. Of two with the same name, the first is
 *  used. Throws for a mistake in one that the configuration names, unless `throws` is false: then it is among the
 *  diagnostics. */
export async function loadConfigSkills(
  loaded: LoadedConfig,
  discovered: readonly Skill[],
  diagnostics: Diagnostic[],
  { throws = true }: { throws?: boolean | undefined } = {},
): Promise<Skill[]> {
  const named = await loadSkills(loaded.config.skills ?? [])
  const errors = named.problems.filter(({ severity }) => severity === "error").map(problemText)
  if (errors.length > 0 && throws) {
    const place = originPlace(loaded.originOf("skills"))
    throw new ConfigError(`${place}the skills cannot be used as they are:\n- ${errors.join("\n- ")}`)
  }
  diagnostics.push(...namedProblems(named.problems, loaded.originOf("skills")))
  const taken = new Set(named.skills.map(({ name }) => name))
  return [...named.skills, ...discovered.filter(({ name }) => !taken.has(name))]
}

/** The mistakes of skills that a definition of an agent names. Their folders are read only when the agent runs. */
export async function definedSkillProblems(skills: readonly SkillSource[], origin: Origin): Promise<Diagnostic[]> {
  const { problems } = await loadSkills(skills)
  return namedProblems(problems, origin)
}

/** Errors are reported at the place that names the skills. */
function namedProblems(problems: readonly Diagnostic[], { file, line, variable }: Origin): Diagnostic[] {
  const place = file ?? variable
  return problems.map((problem) => {
    if (problem.severity !== "error" || place === undefined) return problem
    return { severity: "error", path: place, line, message: `skills: ${problemText(problem)}` }
  })
}
