// Reads one skill from its folder.
import { basename, join } from "node:path"
import type { Skill } from "../skills.ts"
import { digestCode } from "./code-digests.ts"
import type { FoundSkill, ReportProblem } from "./discover-skills.ts"
import { parseSkillText } from "./front-matter.ts"
import { readWithin } from "./read-within.ts"
import { listSkillFiles, readSkillFile } from "./skill-files.ts"
import { checkSkillProperties, pathProblem } from "./skill-properties.ts"

/** Reads a skill; undefined if it has an error, which is reported. */
export async function readSkill(
  found: FoundSkill,
  trusted: boolean,
  report: ReportProblem,
): Promise<Skill | undefined> {
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
