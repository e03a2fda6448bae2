import type { Todo } from "../core/agent.ts"
import { isListOf, isObjectWith, isString } from "../core/checks/check-shape.ts"
import type { StateValues } from "./tool-state.ts"

/** The key of the tools' state that has the todos. */
export const todosKey = "todos"

export const todoStatuses = ["pending", "in_progress", "done"] as const

const isTodos = isListOf(
  isObjectWith({ id: isString, title: isString, status: (status) => todoStatuses.some((each) => each === status) }),
)

/** The todos in a state of tools; none where there is no list of them. */
export function todosIn(values: Readonly<StateValues>): readonly Todo[] {
  const todos: unknown = Object.hasOwn(values, todosKey) ? values[todosKey] : undefined
  // Checked just above, member by member.
  return isTodos(todos) ? (todos as Todo[]) : []
}

export function openTodos(todos: readonly Todo[]): Todo[] {
  return todos.filter(({ status }) => status !== "done")
}
