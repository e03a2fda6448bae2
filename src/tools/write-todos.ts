// The tool `write_todos`: the model maintains a todo list.
import * as z from "zod"
import type { Todo } from "../core/agent.ts"
import { newId } from "../core/message.ts"
import { todoStatuses, todosIn, todosKey } from "./todo-list.ts"
import { type Tool, type ToolState, tool, toolFailure, toolResult } from "./tool.ts"

/** The todos in the state of a conversation. */
export function readTodos(state: ToolState): readonly Todo[] {
  return todosIn({ [todosKey]: state.get(todosKey) ?? null })
}

/** The model keeps a list of its tasks. */
export function todosTool(): Tool {
  return tool({
    name: "write_todos",
    description: "Replaces the whole todo list. Use it for work of several steps. At most one todo is in progress.",
    input: z.strictObject({
      todos: z.array(
        z.strictObject({
          id: z.string().optional().describe("The id that the todo has. A new todo has none."),
          title: z.string().trim().min(1),
          status: z.enum(todoStatuses).default("pending"),
        }),
      ),
    }),
    // The list is state of the run and is saved with it.
    sideEffect: false,
    idempotent: true,
    run({ todos: given }, { state }) {
      const working = given.filter(({ status }) => status === "in_progress")
      if (working.length > 1) {
        const titles = working.map(({ title }) => `"${title}"`).join(", ")
        return toolFailure("many-in-progress", `Only one todo may be in progress, and these are: ${titles}.`)
      }
      const ids = given.map(({ id }) => id).filter((id) => id !== undefined)
      const twice = ids.find((id, index) => ids.indexOf(id) !== index)
      if (twice !== undefined) return toolFailure("same-id", `Two todos have the id "${twice}".`)
      const known = readTodos(state).filter(({ id }) => !ids.includes(id))
      const idOf = (title: string) => {
        const same = known.findIndex((earlier) => earlier.title === title)
        return known.splice(same, same === -1 ? 0 : 1)[0]?.id ?? newId("todo")
      }
      const todos: Todo[] = given.map(({ id, title, status }) => ({ id: id ?? idOf(title), title, status }))
      state.set(
        todosKey,
        todos.map((todo) => ({ ...todo })),
      )
      return toolResult({ text: todosText(todos), value: todos })
    },
  })
}

function todosText(todos: readonly Todo[]): string {
  if (todos.length === 0) return "No todos."
  const marks = { pending: " ", in_progress: ">", done: "x" }
  return todos.map(({ id, title, status }) => `[${marks[status]}] ${title} (${id})`).join("\n")
}
