// Tracks the background tasks of one turn of Claude Code: commands and agents that continue after their call has its
// result. When one ends, the CLI asks its model again and prints another `result`.
import type { Step } from "../provider.ts"
import { type JsonObject, listAt, textAt } from "../read-json.ts"

interface Task {
  description: string
  call: string | undefined
  isAgent: boolean
  /** True if its call already has its result. */
  detached: boolean
}

export function createClaudeBackgroundTasks() {
  const tasks = new Map<string, Task>()
  let hasUnreported = false

  function end(id: string, ok: boolean, text: string): Step[] {
    const task = tasks.get(id)
    tasks.delete(id)
    if (!task?.detached) return []
    hasUnreported = true
    return task.isAgent && task.call !== undefined ? [{ type: "agent-end", id: task.call, ok, text }] : []
  }

  return {
    /** Reads a `system` line; returns undefined if it is not about a task. */
    read(line: JsonObject): Step[] | undefined {
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
          // A complete list: tasks that are missing have ended, possibly without a notification.
          const listed = new Set(listAt(line, "tasks").map((task) => textAt(task, "task_id")))
          const ended = [...tasks].filter(([known, task]) => task.detached && !listed.has(known))
          return ended.flatMap(([known]) => end(known, true, ""))
        }
        default:
          return undefined
      }
    },
    /** Called when a call has its result. If the call has a running task, marks it as detached and returns true: the
     *  result then only says that the task was started. */
    detachTaskOf(call: string): boolean {
      const task = tasks.values().find((each) => each.call === call)
      if (task) task.detached = true
      return task !== undefined
    },
    /** Called when the model is asked: the request reports the tasks that have ended. */
    markReported(): void {
      hasUnreported = false
    },
    /** Descriptions of the running detached tasks. */
    running: (): string[] => [...tasks.values()].filter((task) => task.detached).map((task) => task.description),
    /** True if a task has ended and the model does not know yet. */
    get hasUnreported(): boolean {
      return hasUnreported
    },
  }
}
