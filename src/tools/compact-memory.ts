// The tool `compact_memory`: lets the model have its conversation shortened early.
import * as z from "zod"
import { compactionRequestKey } from "../memory.ts"
import { type Tool, tool } from "./tool.ts"

/** The model shortens its conversation. */
export function compactMemoryTool(): Tool {
  return tool({
    name: "compact_memory",
    description: "Replaces older messages by a summary. Use it when you no longer need their details.",
    input: z.strictObject({ notes: z.string().min(1).describe("Notes that stay word for word.") }),
    sideEffect: false,
    idempotent: true,
    retention: "keep",
    run({ notes }, { state }) {
      state.set(compactionRequestKey, true)
      // Repeated in the result, because the newest result stays in the conversation but its call may not.
      return `Before your next step, older messages become a summary. Your notes:\n${notes}`
    },
  })
}
