import { durableStart } from "../agent/durable.ts"
import type { Agent, Decision, RunResult } from "../core/agent.ts"
import { AgentError, ConfigError, ConflictError } from "../core/errors.ts"
import type { AgentEvent, Metadata, Pending } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Change, Store } from "../stores/store.ts"
import type { Backend, Stop } from "./backend.ts"
import {
  changeHead,
  type Head,
  headChanges,
  isClaimable,
  keyOfKey,
  keysOf,
  type RunStatus,
  readHead,
  runStatuses,
  type StoredHead,
  statusKey,
} from "./checkpoint.ts"
import { followLog } from "./follow.ts"
import { type Letter, lettersFrom } from "./inbox.ts"
import { inlineBackend } from "./inline.ts"
import { thisOwner } from "./owner.ts"
import { resultFrom } from "./result.ts"
import { eventsOf, type SliceSetup, withEvents, workSlice } from "./slice.ts"

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

export interface SubmitOptions {
  /** Makes submitting it twice the same as once. */
  key?: string | undefined
  /** Runs of one session share a conversation and its objects, one after the other. */
  session?: string | undefined
  metadata?: Metadata | undefined
}

export interface WatchOptions {
  /** The first sequence number to give. Default 0. */
  from?: number | undefined
  signal?: AbortSignal | undefined
}

export interface ListFilter {
  status?: RunStatus | readonly RunStatus[] | undefined
  agent?: string | undefined
}

export interface RunInfo {
  id: string
  agent: string
  status: RunStatus
  key?: string
  session?: string
  metadata: Metadata
  cycles: number
  createdAt: number
  updatedAt: number
  pending?: Pending
  /** Why no worker goes on with it. */
  refused?: string
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
    looking ??= setInterval(() => recover().catch(() => undefined), leaseMs).unref()
  }

  // The run of the same session that waited for this one.
  async function pushNext(id: string): Promise<void> {
    const next = await store.get(nextKey(id))
    if (typeof next?.value === "string") await push(next.value)
  }

  /** What was said while the run was about to wait. */
  async function readLetters(id: string): Promise<void> {
    const found = await readHead(store, id)
    if (found?.head.status !== "waiting") return
    for (const letter of await lettersFrom(store, id, found.head.inbox)) {
      if (letter.type === "abort") await endIdle(id, letter.reason)
      if (letter.type === "decision") await decideIdle(id, letter.key, letter.decision)
    }
  }

  async function endIdle(id: string, reason?: string): Promise<StoredHead | undefined> {
    const ended = await changeHead(store, id, (head) => {
      if (head.status !== "waiting" && head.status !== "queued") return undefined
      const { cycle: cycles = 0, usage = { complete: true }, output = "" } = head.state ?? {}
      const detail = reason === undefined ? {} : { detail: reason }
      const end = { type: "run-end", status: "aborted", output, cycles, usage, ...detail } as const
      const [next, changes] = withEvents(id, [end], ({ pending: _, ...rest }) => ({ ...rest, status: "aborted" }))
      return { head: next(head), changes }
    })
    if (ended) await pushNext(id)
    return ended
  }

  async function decideIdle(id: string, key: string, decision: Decision): Promise<boolean> {
    const changed = await changeHead(store, id, (head) => {
      const asked = head.asked.map((each) => (each.key === key ? { ...each, decision } : each))
      const answered = head.asked.find((each) => each.key === key && each.decision === undefined)
      if (head.status !== "waiting" || !answered) return undefined
      const [first] = asked.filter((each) => each.decision === undefined)
      const [next, changes] = withEvents(
        id,
        [{ type: "approval-resolved", id: answered.id, decision }],
        ({ pending: _, ...rest }) =>
          first
            ? { ...rest, asked, pending: { kind: "approval", id: first.id, call: first.call } }
            : { ...rest, asked, status: "queued" },
      )
      return { head: next(head), changes }
    })
    if (changed?.head.status === "queued") await push(id, changed.revision)
    return changed !== undefined
  }

  async function send(id: string, letter: Letter): Promise<boolean> {
    for (;;) {
      const { head, revision } = await mustHave(id)
      if (head.status !== "running") return false
      const change: Change = { type: "append", log: keysOf(id).inbox, items: [letter as unknown as Json] }
      try {
        await store.commit([change], { key: keysOf(id).head, ifRevision: revision })
        return true
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
      }
    }
  }

  async function mustHave(id: string): Promise<StoredHead> {
    const found = await readHead(store, id)
    if (!found) throw new AgentError(`There is no run "${id}" in this store.`, { code: "unknown-run" })
    return found
  }

  async function recover(): Promise<string[]> {
    const found: string[] = []
    for (const status of ["queued", "running", "waiting"] as const) {
      for await (const key of store.keys(statusKey(status, ""))) {
        const id = key.slice(statusKey(status, "").length)
        const entry = await readHead(store, id)
        if (!entry) continue
        if (entry.head.status === "waiting") await readLetters(id)
        else if (isClaimable(entry.head)) {
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
    const names = [...Object.values(keysOf(id)), nextKey(id), statusKey(status, id)]
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
      try {
        for await (const item of followLog(store, keysOf(id).events, 0, either)) {
          const event = item as unknown as AgentEvent
          if (event.seq >= from || event.run !== id) yield event
          if (event.type === "run-end" && event.run === id) return
        }
      } finally {
        over.abort()
      }
    },
    async result(id, { signal } = {}) {
      const over = new AbortController()
      const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
      const first = await mustHave(id)
      try {
        let found = first
        const events = followLog(store, keysOf(id).events, first.head.stored, either)
        while (isUnderWay(found.head)) {
          if (found.head.refused !== undefined) throw new ConfigError(found.head.refused)
          if ((await events.next()).done) throw signal?.reason ?? new AgentError(`Run ${id} is gone.`, { code: "gone" })
          found = await mustHave(id)
        }
        return resultFrom(found.head, await eventsOf(store, id))
      } finally {
        over.abort()
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
    recover,
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

const nextKey = (id: string) => `runs/${id}/next`

const hasEnded = ({ status }: Head) => ["done", "stopped", "aborted", "failed"].includes(status)
const isUnderWay = ({ status }: Head) => status === "queued" || status === "running"

/** Writes a new run, or finds the one that the key stands for. */
async function storeRun(
  store: Store,
  agent: string,
  prompt: Prompt,
  { key, session, metadata = {} }: SubmitOptions,
): Promise<{ head: { id: string }; isNew: boolean }> {
  const input = userMessage(prompt) as unknown as Json
  for (;;) {
    const known = key === undefined ? undefined : await store.get(keyOfKey(agent, key))
    if (typeof known?.value === "string") return { head: { id: known.value }, isNew: false }
    const head = newHead(agent, metadata)
    const keys = keysOf(head.id)
    const changes: Change[] = [{ type: "put", key: keys.input, value: input }]
    let guard = { key: keys.head, ifRevision: 0 }
    if (key !== undefined) {
      head.key = key
      guard = { key: keyOfKey(agent, key), ifRevision: 0 }
      changes.push({ type: "put", key: guard.key, value: head.id })
    }
    if (session !== undefined) {
      const name = `sessions/${agent}/${session}`
      const last = await store.get(name)
      head.session = session
      guard = { key: name, ifRevision: last?.revision ?? 0 }
      changes.push({ type: "put", key: name, value: head.id })
      if (typeof last?.value === "string") {
        head.after = last.value
        changes.push({ type: "put", key: nextKey(last.value), value: head.id })
      }
    }
    try {
      await store.commit([...changes, ...headChanges(head)], guard)
      return { head, isNew: true }
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

function newHead(agent: string, metadata: Metadata): Head {
  const createdAt = Date.now()
  return {
    version: 1,
    id: newId("run"),
    agent,
    status: "queued",
    told: [],
    unheard: [],
    metadata,
    createdAt,
    updatedAt: createdAt,
    stored: 0,
    seq: 0,
    journal: 0,
    inbox: 0,
    asked: [],
    fence: 0,
    seed: newId("seed"),
  }
}

function infoOf(head: Head): RunInfo {
  const { id, agent, status, key, session, metadata, createdAt, updatedAt, refused } = head
  const asked = head.asked.find(({ decision }) => decision === undefined)
  const pending: Pending | undefined = head.pending ?? (asked && { kind: "approval", id: asked.id, call: asked.call })
  return {
    id,
    agent,
    status,
    metadata,
    cycles: head.state?.cycle ?? 0,
    createdAt,
    updatedAt,
    ...(key !== undefined && { key }),
    ...(session !== undefined && { session }),
    ...(pending && !hasEnded(head) && { pending }),
    ...(refused !== undefined && { refused }),
  }
}

function checkAgents(agents: Readonly<Record<string, Agent>>): void {
  for (const [name, agent] of Object.entries(agents)) {
    if (!durableStart(agent)) {
      throw new ConfigError(`agents.${name}: only agents made by createAgent({ … }) can have durable runs.`)
    }
    if (agent.runtime) {
      throw new ConfigError(
        `agents.${name}: its runs share one runtime, which no other process has. Give it a factory: runtime: () => jsRuntime({ … }).`,
      )
    }
  }
}
