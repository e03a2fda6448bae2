import * as z from "zod"
import { errorData } from "../core/errors.ts"
import { type Tool, tool, toolFailure } from "./tool.ts"

/** How a run gets at its skills. Both throw what the model can mend. */
export interface SkillAccess {
  names: readonly string[]
  /** Has the instructions told after the results of this answer. */
  activate(name: string): Promise<string>
  /** A file of a skill as text. */
  read(name: string, path: string): Promise<string>
}

/** Activates skills and reads their files, for an agent that works by tool calls alone. */
export function activateSkillTool({ names, activate, read }: SkillAccess): Tool {
  return tool({
    name: "activate_skill",
    description: "Activates a skill: its instructions follow the result. With file, reads one of its files instead.",
    input: z.strictObject({
      name: z.enum(names),
      file: z.string().optional().describe("Path of a file of the skill."),
    }),
    sideEffect: false,
    idempotent: true,
    maxChars: 20_000,
    async run({ name, file }) {
      try {
        return await (file === undefined ? activate(name) : read(name, file))
      } catch (error) {
        return toolFailure(file === undefined ? "skill-failed" : "skill-file", errorData(error).message)
      }
    },
  })
}
