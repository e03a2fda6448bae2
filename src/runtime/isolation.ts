// Decides the isolation of a process or Python runtime.
import { sandboxProblem } from "../core/child/bubblewrap.ts"
import { UnsupportedError } from "../core/errors.ts"

/** If the sandbox is not available, `os` throws, and `auto` warns and uses
 *  `process`. */
export function resolveIsolation(
  maker: string,
  wanted: "process" | "os" | "auto" = "process",
  warn: (message: string) => void,
): "process" | "os" {
  if (wanted === "process") return "process"
  const problem = sandboxProblem()
  if (problem === undefined) return "os"
  if (wanted === "os") {
    throw new UnsupportedError(
      `${maker}(): isolation "os" cannot be had: ${problem}. Or ask for "auto", which does without.`,
    )
  }
  warn(`${maker}(): only a process confines the cells, which keeps neither files nor network from them: ${problem}.`)
  return "process"
}
