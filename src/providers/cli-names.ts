// The names of the coding CLIs, for checks and tables that do not load their code.
import { nearestWord } from "../core/text/nearest-word.ts"

/** In order of preference. */
export const cliNames = ["claude", "codex", "opencode", "gemini"] as const

export type CliName = (typeof cliNames)[number]

/** Returns what is wrong with the name of a coding CLI, without a period at the end; undefined if there is such a
 *  CLI. */
export function cliNameProblem(name: string): string | undefined {
  if (cliNames.some((each) => each === name)) return undefined
  const near = nearestWord(name, cliNames)
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`
  return `unknown coding CLI "${name}".${hint} There are: ${cliNames.join(", ")}`
}
