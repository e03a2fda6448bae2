// The tools `delegate` and `delegate_status`: the model gives tasks to sub-agents and checks on them.
import * as z from "zod"
import type { Agent } from "../core/agent.ts"
import { checkOptions, mustBeLimit } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { reportSubtasks } from "./delegate/subtask-report.ts"
import type { Semaphore, Subtask, SubtaskRequest, Subtasks } from "./delegate/subtasks.ts"
import { createSemaphore, subtasksOf } from "./delegate/subtasks.ts"
import type { Tool, ToolContext, ToolResult, ToolState } from "./tool.ts"
import { isToolResult, tool, toolFailure, toolResult } from "./tool.ts"

/** Sub-agents by the names that the model uses for them. */
export type SubAgents = Readonly<Record<string, Agent>>

export interface DelegateOptions {
  /** How many sub-tasks run concurrently. Default 8. */
  maxParallel?: number | undefined
}

/** Creates both tools. */
export function delegateTools(agents: SubAgents, options: DelegateOptions = {}): Tool[] {
  checkOptions("delegateTools()", options, { maxParallel: mustBeLimit(1) })
  return [delegateTool(agents, options), delegateStatusTool(agents)]
}

const maxReportChars = 40_000

function delegateTool(agents: SubAgents, { maxParallel = 8 }: DelegateOptions): Tool {
  const semaphores = new WeakMap<ToolState, Semaphore>()
  const list = Object.entries(agents).map(
    ([name, { description }]) => `- ${name}${description ? `: ${description}` : ""}`,
  )
  return tool({
    name: "delegate",
    description: `Gives tasks to sub-agents, which work on their own, side by side, and report back. There are:\n${list.join("\n")}`,
    input: z.strictObject({
      tasks: z
        .array(
          z.strictObject({
            agent: z.enum(Object.keys(agents)).optional(),
            prompt: z.string().min(1).describe("All it must know: it sees nothing of this conversation."),
            continue: z
              .string()
              .optional()
              .describe("Instead of agent: id of a task that asked; prompt is the answer."),
          }),
        )
        .min(1)
        .max(100),
      background: z.boolean().optional().describe("Go on at once; see delegate_status. What runs ends with your task."),
    }),
    parallel: true,
    // The calls of the child runs are journaled individually.
    journal: false,
    maxOutputChars: maxReportChars,
    async run({ tasks, background = false }, context) {
      const known = subtasksOf(context.state)
      const semaphore = semaphores.get(context.state) ?? createSemaphore(maxParallel)
      semaphores.set(context.state, semaphore)
      const requests: SubtaskRequest[] = []
      for (const task of tasks) {
        const work = toSubtaskRequest(task, agents, known, {
          slots: semaphore,
          signal: background ? undefined : context.signal,
        })
        if (isToolResult(work)) return work
        if (requests.some(({ continues }) => continues && continues === work.continues)) {
          return toolFailure("same-task", `Nothing was delegated: ${task.continue} is there twice. Give it one answer.`)
        }
        requests.push(work)
      }
      refuseSharedRuntimes(requests, known.list())
      const started = requests.map((work) => known.start(work))
      if (background) return reportSubtasks(started, { continueHint: continueHint })
      await waitForSubtasks(started, context)
      return reportSubtasks(started, { continueHint: continueHint })
    },
  })
}

function delegateStatusTool(agents: SubAgents): Tool {
  return tool({
    name: "delegate_status",
    description: "How delegated tasks are doing, with the answers of those that are done.",
    input: z.strictObject({
      ids: z.array(z.string()).optional().describe("Default: all, without what was reported before."),
      wait: z.boolean().optional().describe("Wait until they are done."),
    }),
    sideEffect: false,
    parallel: true,
    maxOutputChars: maxReportChars,
    async run({ ids, wait = false }, context) {
      const known = subtasksOf(context.state)
      // Restores sub-tasks that have been waiting since an earlier process.
      for (const { id } of known.listLost()) known.get(id, (name) => agents[name])
      const tasks = ids ? ids.map((id) => known.get(id)).filter((task) => task !== undefined) : known.list()
      const missing = ids?.find((id) => !known.get(id))
      if (missing !== undefined) return unknownTask(missing, known)
      const lost = ids ? [] : known.listLost().map((task) => `[${task.id} ${task.agent}] ${lostText(task)}`)
      if (tasks.length + lost.length === 0) return "Nothing was delegated."
      if (wait) await waitForSubtasks(tasks, context)
      const report = reportSubtasks(tasks, { continueHint: continueHint, inquiry: ids ? "named" : "all" })
      return toolResult({ ...report, text: [...lost, ...(tasks.length > 0 ? [report.text] : [])].join("\n\n") })
    },
  })
}

interface TaskInput {
  agent?: string | undefined
  prompt: string
  continue?: string | undefined
}

function toSubtaskRequest(
  input: TaskInput,
  agents: SubAgents,
  known: Subtasks,
  execution: { slots: Semaphore; signal: AbortSignal | undefined },
): SubtaskRequest | ToolResult {
  const { agent: name, prompt, continue: id } = input
  if (id !== undefined) {
    const task = known.get(id, (name) => agents[name])
    if (!task) return unknownTask(id, known)
    if (!task.waitingRun) {
      const cure = task.status === "running" || task.status === "queued" ? "Wait for it." : "Give it as a new task."
      return toolFailure("not-waiting", `Nothing was delegated: ${id} asked nothing, it is ${task.status}. ${cure}`)
    }
    return { agent: task.agent, name: task.name, prompt, continues: task, ...execution }
  }
  const agent = name === undefined ? undefined : agents[name]
  if (name !== undefined && agent) return { agent, name, prompt, ...execution }
  return toolFailure(
    "agent-missing",
    `Nothing was delegated: each task names its agent: ${Object.keys(agents).join(", ")}.`,
  )
}

function unknownTask(id: string, known: Subtasks): ToolResult {
  const lost = known.listLost().find((each) => each.id === id)
  if (lost) return toolFailure("lost-task", `The task ${id} of ${lost.agent} ${lostText(lost)}`)
  const ids = known.list().map((task) => task.id)
  return toolFailure("unknown-task", `There is no task "${id}". There is: ${ids.join(", ") || "none"}.`)
}

// The answers were lost with the process that received them.
function lostText({ status }: { status: string }): string {
  const ended = ["done", "failed", "stopped", "aborted"].includes(status)
  return ended ? `was ${status}, as reported.` : "was lost in a restart. Delegate it anew."
}

// Two concurrent runs on one runtime would see each other's names and values.
function refuseSharedRuntimes(requests: readonly SubtaskRequest[], known: readonly Subtask[]): void {
  const busy = known.filter(({ status }) => status === "running" || status === "queued")
  const used = new Set<unknown>(busy.map(({ agent }) => agent.runtime))
  for (const { agent, name } of requests) {
    if (agent.runtime && used.has(agent.runtime)) {
      throw new ConfigError(
        `Nothing was delegated: tasks of "${name}" share one runtime and cannot run side by side. Delegate them one ` +
          "after the other, or give the agent a factory: createAgent({ runtime: () => jsRuntime(…) }).",
      )
    }
    used.add(agent.runtime)
  }
}

async function waitForSubtasks(tasks: readonly Subtask[], { progress }: ToolContext): Promise<void> {
  await Promise.all(
    tasks.map(async (task) => {
      await task.settled
      progress(`${task.id} ${task.name}: ${task.status}\n`)
    }),
  )
}

function continueHint({ id }: Subtask): string {
  return `pass it on: delegate({ tasks: [{ continue: "${id}", prompt: "<the answer>" }] })`
}
