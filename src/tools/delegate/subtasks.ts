import * as z from "zod"
import { rejectOnAbort } from "../../core/abort.ts"
import type { Agent, Run, RunResult } from "../../core/agent.ts"
import type { AbortError } from "../../core/errors.ts"
import type { Status } from "../../core/event.ts"
import { followSignals, parentForNewRun } from "../../core/run-context.ts"
import type { ToolState } from "../tool.ts"
import { restoreSubtaskResult, storeContinuation } from "./restore-subtask.ts"

/** A piece of work that was given to another agent: a conversation of its own, known to the model by a short id. */
export interface Subtask {
  readonly id: string
  readonly agent: Agent
  /** The agent as the model knows it. */
  readonly name: string
  status: "queued" | "running" | Status
  /** What its last run came to. */
  reply?: SubtaskReply | undefined
  /** Why there was no run. */
  error?: unknown
  /** Where it goes on when the answer is there; what the run opened stays open until then. Of a run of an earlier process,
   *  there is only what it came to. */
  waitingRun?: { run?: Run; result: RunResult } | undefined
  /** Whether the model has seen what it came to. */
  reported: boolean
  /** When it has ended or waits for an answer. Never rejects. */
  readonly settled: Promise<void>
}

export type SubtaskReply = Pick<RunResult, "output" | "files" | "reason" | "detail" | "pending" | "error">

export interface SubtaskRequest {
  agent: Agent
  name: string
  prompt: string
  /** The conversation that it goes on with. */
  from?: RunResult | undefined
  /** The sub-task that waits for this. */
  continues?: Subtask | undefined
  /** Ends it. It ends with the run that started it in any case. */
  signal?: AbortSignal | undefined
  slots?: Semaphore | undefined
}

/** The sub-tasks of one conversation. */
export interface Subtasks {
  start(work: SubtaskRequest): Subtask
  /** Also one that waits since an earlier process, where `agentOf` still has its agent. */
  get(id: string, agentOf?: (name: string) => Agent | undefined): Subtask | undefined
  list(): Subtask[]
  /** Those that an earlier process knew, and this one does not. */
  listLost(): { id: string; agent: string; status: string }[]
  /** Ends what waits. */
  close(): Promise<void>
}

/** The sub-tasks of the conversation whose tools share this state. */
export function subtasksOf(state: ToolState): Subtasks {
  const known = conversations.get(state) ?? createSubtasks(state, [])
  conversations.set(state, known)
  return known
}

/** Lets a conversation that goes on from another answer the sub-tasks that wait there. */
export function continueSubtasks(earlier: ToolState, state: ToolState): void {
  const known = conversations.get(earlier)
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

function createSubtasks(state: ToolState, earlier: readonly Subtask[]): Subtasks {
  const tasks = new Map(earlier.map((task) => [task.id, task]))
  const entries = () => z.array(storedEntry).catch([]).parse(state.get(stateKey))

  function save({ id, name, status, waitingRun: open }: Subtask): void {
    const all = entries()
    const index = all.findIndex((each) => each.id === id)
    const run = open?.result.id ?? ""
    const head = open && status === "waiting" ? storeContinuation(state, id, open.result) : null
    all.splice(index === -1 ? all.length : index, 1, { id, agent: name, status, run, head })
    state.set(stateKey, all)
  }

  function broughtBack(id: string, agentOf: (name: string) => Agent | undefined): Subtask | undefined {
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
    start(work) {
      const { promise: settled, resolve } = Promise.withResolvers<void>()
      const id = work.continues?.id ?? `t${entries().length + 1}`
      const { agent, name } = work
      const task: Subtask = { id, agent, name, status: "queued", reported: false, settled }
      tasks.set(id, task)
      save(task)
      const ending = abortWithParentRun(settled, work.signal)
      void runSubtask(task, work, ending.signal, save)
        .finally(ending.stop)
        .then(() => save(task))
        .finally(resolve)
      return task
    },
    get: (id, agentOf = () => undefined) => tasks.get(id) ?? broughtBack(id, agentOf),
    list: () => [...tasks.values()],
    listLost: () => entries().filter(({ id }) => !tasks.has(id)),
    async close() {
      await Promise.all([...tasks.values()].map(disposeRun))
    },
  }
}

async function runSubtask(
  task: Subtask,
  work: SubtaskRequest,
  signal: AbortSignal,
  save: (task: Subtask) => void,
): Promise<void> {
  const { agent, prompt, slots, continues } = work
  const from = continues?.waitingRun?.result ?? work.from
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
    if (continues) Object.assign(task, { status: "waiting", reply: continues.reply, open: continues.waitingRun })
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
  const { waitingRun: open } = task
  task.waitingRun = undefined
  try {
    await open?.run?.[Symbol.asyncDispose]()
  } catch {
    // A runtime that cannot be closed changes nothing about what was said.
  }
}

/** A signal that fires when the run under way ends, before work that is still queued gets its turn. */
function abortWithParentRun(
  settled: Promise<void>,
  own: AbortSignal | undefined,
): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const unfollow = followSignals(controller, own ? [own] : [])
  const parent = parentForNewRun()?.parent
  const child = { settled, abort: (reason: AbortError) => controller.abort(reason) }
  parent?.children.add(child)
  return {
    signal: controller.signal,
    stop() {
      unfollow()
      parent?.children.delete(child)
    },
  }
}

/** Lets so many work at a time, in the order in which they came. */
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
