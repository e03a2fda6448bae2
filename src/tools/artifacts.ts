import * as z from "zod"
import { AgentError, ConflictError } from "../core/errors.ts"
import { newId, wholeCharacter } from "../core/message.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { memoryWorkspace } from "../workspace/memory.ts"
import type { Workspace } from "../workspace/workspace.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"

/** Where an agent without a runtime keeps what is too long to show or was cleared: files in its workspace, or in memory where
 *  that may only be read, known to the model by short names. */
export type Artifacts = Pick<Runtime, "keep" | "names" | "retrieve">

/** The artifacts of one conversation, in a folder of their own. */
export function artifacts(workspace: Workspace, folder = `.karst/${newId("kept")}`): Artifacts {
  const counts = new Map<string, number>()
  let inMemory: Workspace | undefined

  async function write(path: string, text: string): Promise<void> {
    try {
      await (inMemory ?? workspace).write(path, text, { ifMatch: null })
    } catch (error) {
      if (!isCode(error, "read-only")) throw error
      inMemory ??= memoryWorkspace()
      await write(path, text)
    }
  }

  return {
    async keep(prefix, value) {
      for (;;) {
        const count = (counts.get(prefix) ?? 0) + 1
        counts.set(prefix, count)
        const name = `${prefix}_${count}`
        try {
          const text = typeof value === "string" ? value : JSON.stringify(value)
          await write(`${folder}/${name}.txt`, text)
          return name
        } catch (error) {
          // Somebody else has that name already.
          if (!(error instanceof ConflictError)) throw error
        }
      }
    },
    names: async () => [],
    retrieve: async (name) => new TextDecoder().decode(await (inMemory ?? workspace).read(`${folder}/${name}.txt`)),
  }
}

const shownChars = 20_000

const place = z.strictObject({
  name: z.string().regex(/^_[a-z]+_\d+$/),
  start: z.int().min(0).default(0).describe("The first character."),
})

/** Reads an artifact, a piece at a time. */
export function readArtifactTool({ retrieve }: Artifacts): Tool {
  return tool({
    name: "read_artifact",
    description: "Reads text that was kept because it was too long or too old to show, by its name such as _output_1.",
    input: place,
    sideEffect: false,
    parallel: true,
    idempotent: true,
    maxChars: 2 * shownChars,
    async run({ name, start }) {
      const text = await retrieve(name).catch((error) => {
        if (!isCode(error, "not-found")) throw error
      })
      if (typeof text !== "string") return toolFailure("not-found", `There is no artifact "${name}".`)
      const end = wholeCharacter(text, start + shownChars)
      const rest = end < text.length ? `\n… ${text.length - end} characters left; go on with start ${end} …` : ""
      return toolResult({ text: text.slice(wholeCharacter(text, start), end) + rest, value: text })
    },
  })
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof AgentError && error.code === code
}
