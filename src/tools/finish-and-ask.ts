// The tools `finish` and `ask`, with which an agent ends its run or waits for the user.
import * as z from "zod"
import { openTodos } from "./todo-list.ts"
import { type Tool, tool, toolFailure, toolResult } from "./tool.ts"
import { readTodos } from "./write-todos.ts"

/** Ends the run with a message. Refuses while todos are open. */
export function finishTool(): Tool {
  return tool({
    name: "finish",
    description: "Ends the task. Call it once, when everything is done, with the answer for the user.",
    input: z.strictObject({
      message: z.string().min(1).describe("The answer, complete: the user sees nothing else of your work."),
      files: z.array(z.string()).optional().describe("Paths of files made for the user."),
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
    description: "Asks the user a question and waits for the answer. Only when you cannot go on without it.",
    input: z.strictObject({
      question: z.string().min(1),
      options: z.array(z.string()).optional().describe("Answers to choose from."),
      multiple: z.boolean().optional().describe("Whether more than one may be chosen. Default false."),
      custom: z.boolean().optional().describe("Whether another answer may be given. Default true."),
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
