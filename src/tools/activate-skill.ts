// The tool `activate_skill`: activates skills and reads their files, for agents without code actions.
import * as z from "zod"
import { errorData } from "../core/errors.ts"
import { type Tool, tool, toolFailure } from "./tool.ts"

/** The skills of a run. Both functions throw errors that the model can fix. */
export interface SkillAccess {
  names: readonly string[]
  /** Adds the skill's instructions to the conversation after the results of this answer. */
  activate(name: string): Promise<string>
  /** Reads a file of a skill as text. */
  read(name: string, path: string): Promise<string>
}

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
    maxOutputChars: 20_000,
    async run({ name, file }) {
      try {
        return await (file === undefined ? activate(name) : read(name, file))
      } catch (error) {
        return toolFailure(file === undefined ? "skill-failed" : "skill-file", errorData(error).message)
      }
    },
  })
}
