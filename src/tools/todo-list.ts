// The todo list in the shared state of the tools.
import type { Todo } from "../core/agent.ts"
import { isListOf, isObjectWith, isString } from "../core/checks/check-shape.ts"
import type { StateValues } from "./tool-state.ts"

/** The key of the list in the state. */
export const todosKey = "todos"

export const todoStatuses = ["pending", "in_progress", "done"] as const

const isTodos = isListOf(
  isObjectWith({ id: isString, title: isString, status: (status) => todoStatuses.some((each) => each === status) }),
)

/** Returns the todos in a state; empty if it has no valid list. */
export function todosIn(values: Readonly<StateValues>): readonly Todo[] {
  const todos: unknown = Object.hasOwn(values, todosKey) ? values[todosKey] : undefined
  // `isTodos` checked every member.
  return isTodos(todos) ? (todos as Todo[]) : []
}

export function openTodos(todos: readonly Todo[]): Todo[] {
  return todos.filter(({ status }) => status !== "done")
}
