// The sub-tasks of a conversation: starts them as child runs, stores their state, lets waiting ones continue.
import * as z from "zod"
import { followSignals, rejectOnAbort } from "../../core/abort.ts"
import type { Agent, Run, RunResult } from "../../core/agent.ts"
import type { AbortError } from "../../core/errors.ts"
import type { Status } from "../../core/event.ts"
import { parentForNewRun } from "../../core/run-context.ts"
import type { ToolState } from "../tool.ts"
import { restoreSubtaskResult, storeContinuation } from "./restore-subtask.ts"

/** A task given to another agent: a separate conversation with a short id that the model knows. */
export interface Subtask {
  readonly id: string
  readonly agent: Agent
  /** The name that the model uses for the agent. */
  readonly name: string
  status: "queued" | "running" | Status
  /** The result of its last run. */
  reply?: SubtaskReply | undefined
  /** Why no run could be started. */
  error?: unknown
  /** The waiting run, which stays open until the answer arrives. After a restart only its result is known. */
  waitingRun?: { run?: Run; result: RunResult } | undefined
  /** True once the model has seen the result. */
  reported: boolean
  /** Resolves when the task has ended or waits for an answer. Never rejects. */
  readonly settled: Promise<void>
}

export type SubtaskReply = Pick<RunResult, "output" | "files" | "reason" | "detail" | "pending" | "error">

export interface SubtaskRequest {
  agent: Agent
  name: string
  prompt: string
  /** The conversation that it continues. */
  from?: RunResult | undefined
  /** The waiting sub-task that this request answers. */
  continues?: Subtask | undefined
  /** Aborts the task. It is also aborted when the run that started it ends. */
  signal?: AbortSignal | undefined
  slots?: Semaphore | undefined
}

export interface Subtasks {
  start(request: SubtaskRequest): Subtask
  /** Also restores a task that has been waiting since an earlier process, if `agentOf` returns its agent. */
  get(id: string, agentOf?: (name: string) => Agent | undefined): Subtask | undefined
  list(): Subtask[]
  /** Tasks that an earlier process knew and this one does not. */
  listLost(): { id: string; agent: string; status: string }[]
  /** Disposes of waiting runs. */
  close(): Promise<void>
}

/** Returns the sub-tasks of the conversation whose tools share this state. */
export function subtasksOf(state: ToolState): Subtasks {
  const known = conversations.get(state) ?? createSubtasks(state, [])
  conversations.set(state, known)
  return known
}

/** Lets a conversation that continues another one answer the sub-tasks that wait there. */
export function continueSubtasks(earlierTasks: ToolState, state: ToolState): void {
  const known = conversations.get(earlierTasks)
  if (known) conversations.set(state, createSubtasks(state, known.list()))
}

export async function closeSubtasks(state: ToolState): Promise<void> {
  await conversations.get(state)?.close()
}

const conversations = new WeakMap<ToolState, Subtasks>()

const storedEntry = z.object({
  id: z.string(),
  agent: z.string(),
  status: z.string(),
  run: z.string().default(""),
  head: z.json().default(null),
})

const stateKey = "karst:subtasks"

function createSubtasks(state: ToolState, earlierTasks: readonly Subtask[]): Subtasks {
  const tasks = new Map(earlierTasks.map((task) => [task.id, task]))
  const entries = () => z.array(storedEntry).catch([]).parse(state.get(stateKey))

  function save({ id, name, status, waitingRun }: Subtask): void {
    const all = entries()
    const index = all.findIndex((each) => each.id === id)
    const run = waitingRun?.result.id ?? ""
    const head = waitingRun && status === "waiting" ? storeContinuation(state, id, waitingRun.result) : null
    all.splice(index === -1 ? all.length : index, 1, { id, agent: name, status, run, head })
    state.set(stateKey, all)
  }

  function restore(id: string, agentOf: (name: string) => Agent | undefined): Subtask | undefined {
    const kept = entries().find((each) => each.id === id)
    const { agent: name = "", status } = kept ?? {}
    const agent = agentOf(name)
    const result = agent && status === "waiting" && kept?.run ? restoreSubtaskResult(state, kept) : undefined
    if (!agent || !result) return undefined
    const task: Subtask = {
      id,
      agent,
      name,
      status: "waiting",
      reply: toReply(result),
      waitingRun: { result },
      reported: true,
      settled: Promise.resolve(),
    }
    tasks.set(id, task)
    return task
  }

  return {
    start(request) {
      const { promise: settled, resolve } = Promise.withResolvers<void>()
      const id = request.continues?.id ?? `t${entries().length + 1}`
      const { agent, name } = request
      const task: Subtask = { id, agent, name, status: "queued", reported: false, settled }
      tasks.set(id, task)
      save(task)
      const abort = abortWithParentRun(settled, request.signal)
      void runSubtask(task, request, abort.signal, save)
        .finally(abort.stop)
        .then(() => save(task))
        .finally(resolve)
      return task
    },
    get: (id, agentOf = () => undefined) => tasks.get(id) ?? restore(id, agentOf),
    list: () => [...tasks.values()],
    listLost: () => entries().filter(({ id }) => !tasks.has(id)),
    async close() {
      await Promise.all([...tasks.values()].map(disposeRun))
    },
  }
}

async function runSubtask(
  task: Subtask,
  request: SubtaskRequest,
  signal: AbortSignal,
  save: (task: Subtask) => void,
): Promise<void> {
  const { agent, prompt, slots, continues } = request
  const from = continues?.waitingRun?.result ?? request.from
  let held = false
  try {
    await slots?.take(signal)
    held = true
    signal.throwIfAborted()
    const run = agent.run(prompt, { signal, ...(from && { from }) })
    task.status = "running"
    save(task)
    await storeResult(task, run, await run.settled)
  } catch (error) {
    task.error = error
    task.status = signal.aborted ? "aborted" : "failed"
    if (continues) Object.assign(task, { status: "waiting", reply: continues.reply, waitingRun: continues.waitingRun })
  } finally {
    if (held) slots?.release()
  }
}

async function storeResult(task: Subtask, run: Run, result: RunResult): Promise<void> {
  task.reply = toReply(result)
  task.status = result.status
  task.waitingRun = { run, result }
  if (result.status !== "waiting") await disposeRun(task)
}

function toReply({ output, files, reason, detail, pending, error }: RunResult): SubtaskReply {
  return {
    output,
    ...(files && { files }),
    ...(reason && { reason }),
    ...(detail !== undefined && { detail }),
    ...(pending && { pending }),
    ...(error && { error }),
  }
}

async function disposeRun(task: Subtask): Promise<void> {
  const { waitingRun } = task
  task.waitingRun = undefined
  try {
    await waitingRun?.run?.[Symbol.asyncDispose]()
  } catch {
    // A runtime that cannot be closed does not change the answer.
  }
}

/** Makes a signal that fires when the parent run ends, even before a queued task starts. */
function abortWithParentRun(
  settled: Promise<void>,
  own: AbortSignal | undefined,
): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const stopFollowing = followSignals(controller, own ? [own] : [])
  const parent = parentForNewRun()?.parent
  const child = { settled, abort: (reason: AbortError) => controller.abort(reason) }
  parent?.children.add(child)
  return {
    signal: controller.signal,
    stop() {
      stopFollowing()
      parent?.children.delete(child)
    },
  }
}

/** Lets a limited number of tasks run concurrently, in the order in which they asked. */
export interface Semaphore {
  take(signal: AbortSignal): Promise<void>
  release(): void
}

export function createSemaphore(count: number): Semaphore {
  const queue: (() => void)[] = []
  let free = count
  const release = () => {
    const next = queue.shift()
    if (next) next()
    else free++
  }
  return {
    release,
    async take(signal) {
      if (free > 0) {
        free--
        return
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.push(resolve)
      try {
        await rejectOnAbort(promise, signal)
      } catch (error) {
        const index = queue.indexOf(resolve)
        if (index === -1) release()
        else queue.splice(index, 1)
        throw error
      }
    },
  }
}
