// The tools `finish` and `ask`, with which an agent ends its run or waits for the user.
import * as z from "zod"
import { openTodos } from "./todo-list.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"
import { readTodos } from "./write-todos.ts"

/** Ends the run with a message. Refuses while todos are open. */
export function finishTool(): Tool {
  return tool({
    name: "finish",
    description: "Ends the task with the answer for the user. It may follow other calls in the same answer.",
    input: z.strictObject({
      message: z.string().min(1).describe("The complete answer. The user sees nothing else of your work."),
      files: z.array(z.string()).optional().describe("Paths of files for the user. Default: all that you wrote."),
    }),
    sideEffect: false,
    ignoresCallLimit: true,
    async run({ message, files }, { state, workspace }) {
      const open = openTodos(readTodos(state))
      if (open.length > 0) {
        const list = open.map(({ title, status }) => `- ${title} (${status})`).join("\n")
        return toolFailure("todos-open", `Not finished: these todos are open. Do them, or mark them done.\n${list}`)
      }
      for (const path of files ?? []) {
        if (await workspace.stat(path)) continue
        return toolFailure("not-found", `Not finished: there is no file "${path}". Make it first, or leave it out.`)
      }
      const directive = { kind: "finish", message, ...(files && { files }) } as const
      return toolResult({ text: "Finished.", directive })
    },
  })
}

/** Asks the user, and waits for the answer. */
export function askTool(): Tool {
  return tool({
    name: "ask",
    description: "Asks the user a question and waits for the answer. Use it only if you cannot continue without it.",
    input: z.strictObject({
      question: z.string().min(1),
      options: z.array(z.string()).optional().describe("Answers to choose from."),
      multiple: z.boolean().optional().describe("The user may choose several. Default false."),
      custom: z.boolean().optional().describe("The user may give another answer. Default true."),
    }),
    sideEffect: false,
    ignoresCallLimit: true,
    run({ question, options = [], multiple, custom }) {
      const offered = [...new Set(options.map((option) => option.trim()).filter(Boolean))]
      const directive = {
        kind: "ask",
        question,
        ...(offered.length > 0 && { options: offered }),
        ...(multiple !== undefined && { multiple }),
        ...(custom !== undefined && { custom }),
      } as const
      return toolResult({ text: "Asked; the user's answer comes next.", directive })
    },
  })
}
