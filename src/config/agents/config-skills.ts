// The skills of every agent: those that the configuration names, and the discovered ones.
import { ConfigError } from "../../core/errors.ts"
import { problemText } from "../../skills/load-skills.ts"
import { loadSkills, type Skill } from "../../skills.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import { originPlace } from "../read-config-file.ts"

/** Loads the skills that the configuration names and adds the discovered ones. Of two with the same name, the first is
 *  used. Throws for a mistake in one that the configuration names. */
export async function loadConfigSkills(
  loaded: LoadedConfig,
  discovered: readonly Skill[],
  diagnostics: Diagnostic[],
): Promise<Skill[]> {
  const named = await loadSkills(loaded.config.skills ?? [])
  const errors = named.problems.filter(({ severity }) => severity === "error").map(problemText)
  if (errors.length > 0) {
    const place = originPlace(loaded.originOf("skills"))
    throw new ConfigError(`${place}the skills cannot be used as they are:\n- ${errors.join("\n- ")}`)
  }
  diagnostics.push(...named.problems)
  const taken = new Set(named.skills.map(({ name }) => name))
  return [...named.skills, ...discovered.filter(({ name }) => !taken.has(name))]
}
