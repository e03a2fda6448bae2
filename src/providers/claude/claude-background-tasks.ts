import type { Step } from "../provider.ts"
import { type JsonObject, listAt, textAt } from "../read-json.ts"

/** The background work of one turn of Claude Code: commands and agents that go on after their call has its result. When one ends, the
 *  CLI asks its model again, and prints another `result`. */
export interface ClaudeBackgroundTasks {
  /** Takes a `system` line; undefined where it does not tell of a task. */
  read(line: JsonObject): Step[] | undefined
  /** A call has its result. Returns whether its task goes on: the result then says only that it was started. */
  detachTaskOf(call: string): boolean
  /** The model is asked: it is told of what has ended by now. */
  markReported(): void
  /** Descriptions of the tasks that go on. */
  running(): string[]
  /** Whether a task has ended and the model was not told yet. */
  readonly hasUnreported: boolean
}

interface Task {
  description: string
  call: string | undefined
  isAgent: boolean
  /** Whether its call has its result. */
  detached: boolean
}

export function createClaudeBackgroundTasks(): ClaudeBackgroundTasks {
  const tasks = new Map<string, Task>()
  let unreported = false

  function end(id: string, ok: boolean, text: string): Step[] {
    const task = tasks.get(id)
    tasks.delete(id)
    if (!task?.detached) return []
    unreported = true
    return task.isAgent && task.call !== undefined ? [{ type: "agent-end", id: task.call, ok, text }] : []
  }

  return {
    read(line) {
      const id = textAt(line, "task_id") ?? ""
      switch (textAt(line, "subtype")) {
        case "task_started": {
          const call = textAt(line, "tool_use_id")
          const isAgent = textAt(line, "task_type") === "local_agent"
          const description = textAt(line, "description") ?? id
          tasks.set(id, { description, call, isAgent, detached: call === undefined })
          return isAgent && call !== undefined ? [{ type: "agent", id: call }] : []
        }
        case "task_notification":
          return end(id, textAt(line, "status") === "completed", textAt(line, "summary") ?? "")
        case "background_tasks_changed": {
          // The whole list: what is not in it has ended, though nothing else may say so.
          const listed = new Set(listAt(line, "tasks").map((task) => textAt(task, "task_id")))
          const ended = [...tasks].filter(([known, task]) => task.detached && !listed.has(known))
          return ended.flatMap(([known]) => end(known, true, ""))
        }
        default:
          return undefined
      }
    },
    detachTaskOf(call) {
      const task = tasks.values().find((each) => each.call === call)
      if (task) task.detached = true
      return task !== undefined
    },
    markReported() {
      unreported = false
    },
    running: () => [...tasks.values()].filter((task) => task.detached).map((task) => task.description),
    get hasUnreported() {
      return unreported
    },
  }
}
