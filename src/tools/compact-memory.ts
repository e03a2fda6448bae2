// The tool `compact_memory`: lets the model have its conversation shortened early.
import * as z from "zod"
import { compactionRequestKey } from "../memory.ts"
import { type Tool, tool } from "./tool.ts"

/** The model shortens its conversation. */
export function compactMemoryTool(): Tool {
  return tool({
    name: "compact_memory",
    description: "Replaces older messages by a summary. For when their details are not needed any more.",
    input: z.strictObject({ notes: z.string().min(1).describe("What to keep word for word.") }),
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
