import * as z from "zod"
import { compactionRequestKey } from "../memory.ts"
import { type Tool, tool } from "./tool.ts"

/** Lets the model have its conversation made shorter, before it must be. */
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
      // Said again here, because the newest result stays and its call may not.
      return `Before your next step, older messages become a summary. Your notes:\n${notes}`
    },
  })
}
