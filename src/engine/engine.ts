import type { Agent, Decision, RunResult } from "../core/agent.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { type Prompt, userMessage } from "../core/message.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Change, Store } from "../stores/store.ts"
import type { Backend, Stop } from "./backend.ts"
import {
  changeHead,
  type Head,
  hasEnded,
  isClaimable,
  isUnderWay,
  keyOfKey,
  keysOf,
  readHead,
  runStatuses,
  statusKey,
} from "./checkpoint.ts"
import { followLog } from "./follow.ts"
import { remote } from "./idle.ts"
import type { Letter } from "./inbox.ts"
import { inlineBackend } from "./inline.ts"
import { withEvents } from "./own-events.ts"
import { thisOwner } from "./owner.ts"
import { checkAgents } from "./refusal.ts"
import { resultFrom } from "./result.ts"
import { infoOf, type ListFilter, type RunInfo } from "./run-info.ts"
import { type SliceSetup, workSlice } from "./slice.ts"
import { eventsOf } from "./stored-run.ts"
import { type SubmitOptions, storeRun } from "./submit.ts"

export interface EngineOptions {
  /** The agents whose runs it knows, by name. Each needs a runtime factory, or none. */
  agents: Readonly<Record<string, Agent>>
  store: Store
  /** What schedules. Default: this process, which then works without being told to. */
  backend?: Backend | undefined
  /** How long a worker may be silent before another takes its runs. Default 30,000. */
  leaseMs?: number | undefined
  /** How long a cell is held while somebody is asked; then it is given up, and run again from the journal once there is
   *  an answer. Default 30,000. */
  holdMs?: number | undefined
  /** How long one job works on a run before it is the turn of others. Default 30,000. */
  sliceMs?: number | undefined
  /** How much of a run's live objects is kept. Default 16 MB. */
  maxSnapshotBytes?: number | undefined
  /** What becomes of a call that was begun before a crash, when nobody knows whether it took effect and its binding
   *  does not say: somebody is asked, the cell gets an error, or it is made again. Default `fail`. */
  unknown?: UnknownPolicy | undefined
  /** Goes on with runs whose agent has another shape than when they began. Default false. */
  allowChanged?: boolean | undefined
}

/** Runs that survive: each is in the store before it does anything, and goes on from there in whichever process. */
export interface Engine extends AsyncDisposable {
  /** Stores a run and has it worked on. The same key twice for one agent is the same run. */
  submit(agent: string, prompt: Prompt, options?: SubmitOptions): Promise<{ id: string }>
  /** The stored events of a run, from the first or from a sequence number, then those that come, until it has ended. */
  watch(id: string, options?: WatchOptions): AsyncIterable<AgentEvent>
  /** What the run came to; waits until it has ended or waits for somebody. */
  result(id: string, options?: { signal?: AbortSignal | undefined }): Promise<RunResult>
  /** Answers the question that a run waits with. */
  answer(id: string, text: string): Promise<void>
  /** Answers a call that asked for approval, by its id. */
  approve(id: string, call: string, decision: Decision): Promise<void>
  /** Says something to the model before its next cycle. */
  steer(id: string, text: string): Promise<void>
  /** Ends a run, wherever it is. One that has ended stays as it is. */
  abort(id: string, reason?: string): Promise<void>
  /** One run; undefined where there is none. */
  get(id: string): Promise<RunInfo | undefined>
  list(filter?: ListFilter): AsyncIterable<RunInfo>
  /** Takes jobs until `drain`. */
  work(options?: { concurrency?: number | undefined }): Promise<void>
  /** Takes no more jobs; those under way are saved at the end of their cycle, for others to go on with. */
  drain(): Promise<void>
  /** Has every run worked on that waits for a worker or has lost its own; gives their ids. */
  recover(): Promise<string[]>
  /** Removes everything of a run that has ended or waits. */
  delete(id: string): Promise<void>
  /** Removes the runs that ended so long ago; gives their ids. */
  prune(options: { olderThanMs: number }): Promise<string[]>
  /** Drains, and lets go of the backend. The store is its owner's. */
  close(): Promise<void>
}

export interface WatchOptions {
  /** The first sequence number to give. Default 0. */
  from?: number | undefined
  signal?: AbortSignal | undefined
}

export function createEngine(options: EngineOptions): Engine {
  const { agents, store, leaseMs = 30_000, holdMs = 30_000, sliceMs = 30_000 } = options
  const { maxSnapshotBytes = 16 * 2 ** 20, unknown = "fail", allowChanged = false } = options
  checkAgents(agents)
  const backend = options.backend ?? inlineBackend()
  const stopping = new AbortController()
  const setup: SliceSetup = {
    store,
    agents,
    owner: thisOwner(),
    leaseMs,
    holdMs,
    sliceMs,
    maxSnapshotBytes,
    unknown,
    allowChanged,
    queued: () => backend.queued(),
    stopping: stopping.signal,
  }
  const stops: Stop[] = []
  let ownWork: Promise<void> | undefined
  let looking: NodeJS.Timeout | undefined

  const { mustHave, send, endIdle, decideIdle, readLetters } = remote({ store, push, pushNext })

  async function handle({ run }: { run: string }): Promise<void> {
    const end = await workSlice(setup, run)
    if (end === "none") return
    if (end === "ended") return await pushNext(run)
    await readLetters(run)
    if (end === "again" && !stopping.signal.aborted) await push(run)
  }

  async function push(id: string, revision?: number): Promise<void> {
    await backend.push({ run: id, revision: revision ?? (await readHead(store, id))?.revision ?? 0 })
    if (options.backend) return
    ownWork ??= work()
    await ownWork
  }

  async function work({ concurrency = 4 }: { concurrency?: number | undefined } = {}): Promise<void> {
    if (stopping.signal.aborted) return
    stops.push(await backend.start(handle, { concurrency }))
    looking ??= setInterval(() => recover(leaseMs).catch(() => undefined), leaseMs).unref()
  }

  // The run of the same session that waited for this one.
  async function pushNext(id: string): Promise<void> {
    const next = await store.get(keysOf(id).next)
    if (typeof next?.value === "string") await push(next.value)
  }

  /** With `silentMs`, only what nobody has touched for so long: the rest is in somebody's queue. */
  async function recover(silentMs = 0): Promise<string[]> {
    const found: string[] = []
    for (const status of ["queued", "running", "waiting"] as const) {
      for await (const key of store.keys(statusKey(status, ""))) {
        const id = key.slice(statusKey(status, "").length)
        const entry = await readHead(store, id)
        if (!entry) continue
        if (entry.head.status === "waiting") await readLetters(id)
        else if (isClaimable(entry.head) && isForgotten(entry.head, silentMs)) {
          found.push(id)
          await push(id, entry.revision)
        }
      }
    }
    return found
  }

  async function drain(): Promise<void> {
    stopping.abort()
    clearInterval(looking)
    await ownWork
    await Promise.all(stops.splice(0).map((stop) => stop()))
  }

  async function remove(id: string): Promise<boolean> {
    const found = await readHead(store, id)
    if (!found || found.head.status === "running" || found.head.status === "queued") return false
    const { agent, key, status } = found.head
    const names = [...Object.values(keysOf(id)), statusKey(status, id)]
    if (key !== undefined) names.push(keyOfKey(agent, key))
    const changes = names.map((name): Change => ({ type: "delete", key: name }))
    await store.commit(changes, { key: keysOf(id).head, ifRevision: found.revision })
    return true
  }

  const engine: Engine = {
    async submit(agent, prompt, submitted = {}) {
      if (!Object.hasOwn(agents, agent)) {
        throw new ConfigError(
          `There is no agent "${agent}" in this engine. There is: ${Object.keys(agents).join(", ")}.`,
        )
      }
      const { head, isNew } = await storeRun(store, agent, prompt, submitted)
      if (isNew) await push(head.id)
      return { id: head.id }
    },
    async *watch(id, { from = 0, signal } = {}) {
      await mustHave(id)
      const over = new AbortController()
      const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
      let isReached = from === 0
      try {
        for await (const item of followLog(store, keysOf(id).events, 0, either)) {
          const event = item as unknown as AgentEvent
          // Runs that it has started count for themselves: theirs come where they were told.
          if (event.run === id) isReached = event.seq >= from
          if (isReached) yield event
          if (event.type === "run-end" && event.run === id) return
        }
      } finally {
        over.abort()
      }
    },
    async result(id, { signal } = {}) {
      const over = new AbortController()
      const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
      let found = await mustHave(id)
      const events = followLog(store, keysOf(id).events, found.head.stored, either)
      try {
        while (isUnderWay(found.head)) {
          if (found.head.refused !== undefined) throw new ConfigError(found.head.refused)
          const { value, done } = await events.next()
          if (done) throw signal?.reason ?? new AgentError(`Run ${id} is gone.`, { code: "gone" })
          if (maySettle.has((value as unknown as AgentEvent).type)) found = await mustHave(id)
        }
        return resultFrom(found.head, await eventsOf(store, id))
      } finally {
        over.abort()
        await events.return(undefined)
      }
    },
    async answer(id, text) {
      await mustHave(id)
      const message = userMessage(text)
      const changed = await changeHead(store, id, (head) => {
        if (head.status !== "waiting" || head.pending?.kind !== "question") return undefined
        const event = { type: "prompt-steered", message } as const
        const [next, changes] = withEvents(id, [event], ({ pending: _, ...rest }) => ({ ...rest, status: "queued" }))
        return { head: next(head), changes }
      })
      if (!changed) throw new AgentError(`Run ${id} has no question to answer.`, { code: "not-waiting" })
      await push(id, changed.revision)
    },
    async approve(id, call, decision) {
      const { head } = await mustHave(id)
      const asked = head.asked.find((each) => each.id === call && each.decision === undefined)
      if (!asked) throw new AgentError(`No approval "${call}" is waiting in run ${id}.`, { code: "unknown-approval" })
      const isTold =
        (await send(id, { type: "decision", key: asked.key, decision })) || (await decideIdle(id, asked.key, decision))
      if (!isTold) throw new AgentError(`No approval "${call}" is waiting in run ${id}.`, { code: "unknown-approval" })
    },
    async steer(id, text) {
      const { head } = await mustHave(id)
      if (hasEnded(head)) throw new AgentError(`Run ${id} has ended; nobody would hear it.`, { code: "ended" })
      const letter: Letter = { type: "steer", text }
      await store.commit([{ type: "append", log: keysOf(id).inbox, items: [letter as unknown as Json] }])
    },
    async abort(id, reason) {
      for (;;) {
        if (hasEnded((await mustHave(id)).head)) return
        if ((await send(id, { type: "abort", ...(reason !== undefined && { reason }) })) || (await endIdle(id, reason)))
          return
      }
    },
    async get(id) {
      const found = await readHead(store, id)
      return found && infoOf(found.head)
    },
    async *list({ status = runStatuses, agent } = {}) {
      for (const each of [status].flat()) {
        for await (const key of store.keys(statusKey(each, ""))) {
          const found = await readHead(store, key.slice(statusKey(each, "").length))
          if (found?.head.status === each && (agent === undefined || found.head.agent === agent))
            yield infoOf(found.head)
        }
      }
    },
    work,
    drain,
    recover: () => recover(),
    async delete(id) {
      await mustHave(id)
      if (!(await remove(id))) throw new AgentError(`Run ${id} is under way. Abort it first.`, { code: "running" })
    },
    async prune({ olderThanMs }) {
      const removed: string[] = []
      for await (const { id, updatedAt } of engine.list({ status: ["done", "stopped", "aborted", "failed"] })) {
        if (updatedAt < Date.now() - olderThanMs && (await remove(id))) removed.push(id)
      }
      return removed
    },
    async close() {
      await drain()
      await backend.close?.()
    },
    [Symbol.asyncDispose]: () => engine.close(),
  }
  return engine
}

// No run comes to rest without one of these.
const maySettle = new Set<AgentEvent["type"]>(["run-end", "question-asked", "approval-requested", "warning-raised"])

const isForgotten = ({ status, refused, updatedAt }: Head, silentMs: number) =>
  silentMs === 0 || status === "running" || (refused === undefined && updatedAt < Date.now() - silentMs)
