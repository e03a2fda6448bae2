// Reads the instructions that a project has for Claude Code. The project may come from anyone.
import { join } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import { isNotThere, readRegularFile } from "../../core/read-regular-file.ts"

/** Returns the texts of CLAUDE.md and .claude/CLAUDE.md that are there. Throws if one cannot be read, because the model
 *  would work without it. */
export async function readProjectInstructions(cwd: string): Promise<string[]> {
  const texts = await Promise.all(["CLAUDE.md", join(".claude", "CLAUDE.md")].map((name) => readText(join(cwd, name))))
  return texts.filter((text) => text !== "")
}

async function readText(path: string): Promise<string> {
  const found = await readRegularFile(path, maxBytes)
  if ("bytes" in found) return found.bytes.toString("utf8")
  if (isNotThere(found)) return ""
  throw new ConfigError(`The instructions "${path}" ${found.problem}. Correct or remove it.`)
}

// More would fill the context window of the model.
const maxBytes = 1_000_000
