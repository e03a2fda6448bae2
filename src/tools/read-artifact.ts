// The tool `read_artifact`: reads a stored text piece by piece.
import * as z from "zod"
import { AgentError } from "../core/errors.ts"
import { characterBoundary } from "../core/message.ts"
import type { Artifacts } from "./artifacts.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"

const maxShownChars = 20_000

const inputSchema = z.strictObject({
  name: z.string().regex(/^_[a-z]+(?:_p\d+)?_\d+$/),
  start: z.int().min(0).default(0).describe("The first character."),
})

export function readArtifactTool({ retrieve }: Pick<Artifacts, "retrieve">): Tool {
  return tool({
    name: "read_artifact",
    description: "Reads text that was kept because it was too long or too old to show, by its name such as _output_1.",
    input: inputSchema,
    sideEffect: false,
    parallel: true,
    idempotent: true,
    maxOutputChars: 2 * maxShownChars,
    async run({ name, start }) {
      const text = await retrieve(name).catch((error) => {
        if (!(error instanceof AgentError) || error.code !== "not-found") throw error
      })
      if (typeof text !== "string") return toolFailure("not-found", `There is no artifact "${name}".`)
      const end = characterBoundary(text, start + maxShownChars)
      const rest = end < text.length ? `\n… ${text.length - end} characters left; go on with start ${end} …` : ""
      return toolResult({ text: text.slice(characterBoundary(text, start), end) + rest, value: text })
    },
  })
}
