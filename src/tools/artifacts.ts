import * as z from "zod"
import { ConflictError } from "../core/errors.ts"
import { newId } from "../core/message.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { Workspace } from "../workspace/workspace.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"

/** Where an agent without a runtime keeps what is too long to show or was cleared: files in its workspace, known to the
 *  model by short names. */
export type Artifacts = Pick<Runtime, "keep" | "names" | "retrieve">

/** The artifacts of one conversation, in a folder of their own. */
export function artifacts(workspace: Workspace, folder = `.karst/${newId("kept")}`): Artifacts {
  const counts = new Map<string, number>()
  return {
    async keep(prefix, value) {
      for (;;) {
        const count = (counts.get(prefix) ?? 0) + 1
        counts.set(prefix, count)
        const name = `${prefix}_${count}`
        try {
          const text = typeof value === "string" ? value : JSON.stringify(value)
          await workspace.write(`${folder}/${name}.txt`, text, { ifMatch: null })
          return name
        } catch (error) {
          // Somebody else has that name already.
          if (!(error instanceof ConflictError)) throw error
        }
      }
    },
    names: async () => [],
    retrieve: async (name) => new TextDecoder().decode(await workspace.read(`${folder}/${name}.txt`)),
  }
}

const shownChars = 20_000

const place = z.object({
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
      const text = await retrieve(name).catch(() => undefined)
      if (typeof text !== "string") return toolFailure("not-found", `There is no artifact "${name}".`)
      const end = Math.min(text.length, start + shownChars)
      const rest = end < text.length ? `\n… ${text.length - end} characters left; go on with start ${end} …` : ""
      return toolResult({ text: text.slice(start, end) + rest, value: text })
    },
  })
}
