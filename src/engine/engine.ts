import { AgentError, ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { checkSteerText, userMessage } from "../core/message.ts"
import type { StopWorking } from "./backends/backend.ts"
import { inlineBackend } from "./backends/inline.ts"
import {
  hasEnded,
  listRuns,
  pendingCallKey,
  type RunHead,
  readHead,
  runKeys,
  runStatuses,
  updateHead,
} from "./checkpoint.ts"
import { deleteRun, pruneRuns } from "./delete-runs.ts"
import type { Engine, EngineOptions } from "./engine-contract.ts"
import {
  checkEngineOptions,
  checkListFilter,
  checkPruneOptions,
  checkResultOptions,
  checkSubmitOptions,
  checkWatchOptions,
  checkWorkOptions,
} from "./engine-option-checks.ts"
import { pollForQueuedRuns } from "./queued-run-poller.ts"
import { isClaimable } from "./run/claim-run.ts"
import { commitWithEvents } from "./run/engine-events.ts"
import { createLeaseObserver, type LeaseObserver } from "./run/lease-observer.ts"
import type { InboxMessage } from "./run/run-inbox.ts"
import { createOwner } from "./run/run-owner.ts"
import { createRunSlots } from "./run/run-slots.ts"
import { executeSlice, type SliceSetup } from "./run/slice.ts"
import { createWarmRuns } from "./run/warm-runs.ts"
import { createRunControl } from "./run-control.ts"
import { runInfoOf } from "./run-info.ts"
import { checkDurableAgents, heldElsewhereError } from "./run-refusal.ts"
import { retryRun } from "./run-retries.ts"
import { createRunTimers } from "./run-timers.ts"
import { readSessionQueue, releaseHeldRuns } from "./session-queue.ts"
import { submitRun } from "./submit.ts"
import { waitForResult, watchRun } from "./watch-run.ts"

export type { Engine, EngineOptions } from "./engine-contract.ts"

export function createEngine<Name extends string>(options: EngineOptions<Name>): Engine<Name> {
  if (!options?.store) throw new ConfigError('createEngine needs a store, such as store: sqliteStore("karst.db").')
  checkEngineOptions(options)
  const { agents, store, leaseMs = 30_000, holdMs = 30_000, sliceMs = 30_000 } = options
  const {
    maxSnapshotBytes = 16 * 2 ** 20,
    unknown = "fail",
    allowChanged = false,
    warmRuns = 16,
    retry = {},
    maxAttempts = 5,
  } = options
  checkDurableAgents(agents)
  const backend = options.backend ?? inlineBackend()
  const stopping = new AbortController()
  const silence = createLeaseObserver(leaseMs)
  const setup: SliceSetup = {
    store,
    agents,
    owner: createOwner(),
    leaseMs,
    silence,
    holdMs,
    sliceMs,
    maxSnapshotBytes,
    unknown,
    allowChanged,
    retry,
    maxAttempts,
    slots: createRunSlots(),
    warmRuns: createWarmRuns(warmRuns),
    push,
    queued: () => backend.queued(),
    stopping: stopping.signal,
  }
  // Its agents do not change, so neither does what it would say of these.
  const refused = new Set<string>()
  const stops: StopWorking[] = []
  const delayed = createRunTimers((id) => push(id))
  const expiries = createRunTimers(expire)
  let ownWork: Promise<void> | undefined
  let stopLooking: (() => void) | undefined
  let isClosed = false
  let looking: NodeJS.Timeout | undefined
  let lookedAtWaiting = -Infinity

  const {
    requireRun: mustHave,
    send,
    abort,
    decideUnowned: decideIdle,
    expireUnowned: expireIdle,
    processInbox: readMessages,
  } = createRunControl({ store, silence, push, pushNext })

  async function handle({ run }: { run: string }): Promise<void> {
    const end = await executeSlice(setup, run)
    if (end.type === "ended") await pushNext(run)
    if (end.type === "waiting") {
      await readMessages(run)
      await expire(run)
    }
    if (end.type === "again") await end.pushed
    if (end.type === "later") delayed.add(run, end.at)
    if (end.type === "refused") refused.add(run)
    if (end.type === "held") throw heldElsewhereError(run)
  }

  /** Refuses the approvals of a waiting run whose time is over, and those that are still open when their time comes. */
  async function expire(id: string): Promise<void> {
    const at = await expireIdle(id)
    if (at !== undefined) expiries.add(id, at)
  }

  async function push(id: string, revision?: number): Promise<void> {
    await backend.push({ run: id, revision: revision ?? (await readHead(store, id))?.revision ?? 0 })
    await workHere()
  }

  async function workHere(): Promise<void> {
    if (options.backend) return
    ownWork ??= work()
    await ownWork
  }

  async function work(given: { concurrency?: number | undefined } = {}): Promise<void> {
    checkWorkOptions(given)
    const { concurrency = 4 } = given
    if (stopping.signal.aborted) return
    stops.push(await backend.start(handle, { concurrency }))
    looking ??= setInterval(() => recover(leaseMs).catch(() => undefined), leaseMs / 2).unref()
    if (!backend.isShared)
      stopLooking ??= pollForQueuedRuns({ store, queued: setup.queued, recover: () => recover(0, isKnown) })
  }

  // The next run of the same session has waited for this one. Runs that were aborted while they waited are passed over.
  async function pushNext(id: string): Promise<void> {
    for (let last = id; ; ) {
      const next = (await store.get(runKeys(last).next))?.value
      const found = typeof next === "string" ? await readHead(store, next) : undefined
      if (!found) return
      if (!hasEnded(found.head)) return await push(found.head.id, found.revision)
      last = found.head.id
    }
  }

  // Runs of other agents are left to the engines that have them.
  const isKnown = (agent: string) => Object.hasOwn(agents, agent)

  /** With `silentMs`, only what nobody has touched for so long: the rest is in somebody's queue. */
  async function recover(silentMs = 0, isOurs = (_agent: string) => true): Promise<string[]> {
    const found: string[] = []
    for await (const { head, revision } of listRuns(store, ["queued", "running", ...waitingNow()])) {
      const isFree = isClaimable(head, { silence }) && isUnattended(head, silentMs, silence)
      if (!isOurs(head.agent)) continue
      if (head.status === "waiting") {
        await readMessages(head.id)
        await expire(head.id)
      } else if (head.retryAt !== undefined && head.retryAt > Date.now()) delayed.add(head.id, head.retryAt)
      else if (isFree && !(head.refused && refused.has(head.id))) {
        found.push(head.id)
        await push(head.id, head.refused ? await triedAgain(head.id) : revision)
      }
    }
    return found
  }

  // Only a worker that died in the very moment a run began to wait leaves something to do there, and they may be many.
  function waitingNow(): ["waiting"] | [] {
    if (performance.now() - lookedAtWaiting < 10 * leaseMs) return []
    lookedAtWaiting = performance.now()
    return ["waiting"]
  }

  // Whoever asks for the result meanwhile is not told what held before.
  async function triedAgain(id: string): Promise<number | undefined> {
    const changed = await updateHead(store, id, ({ refused, ...head }) => (refused ? { head } : undefined))
    return changed?.revision
  }

  async function drain(): Promise<void> {
    stopping.abort()
    clearInterval(looking)
    stopLooking?.()
    delayed.close()
    expiries.close()
    await ownWork
    await Promise.all(stops.splice(0).map((stop) => stop()))
    await setup.warmRuns.close()
  }

  const engine: Engine<Name> = {
    async submit(agent, prompt, submitted = {}) {
      if (isClosed)
        throw new AgentError("This engine is closed. Create another one to submit runs.", { code: "closed" })
      if (!Object.hasOwn(agents, agent)) {
        throw new ConfigError(
          `There is no agent "${agent}" in this engine. There is: ${Object.keys(agents).join(", ")}.`,
        )
      }
      checkSubmitOptions(submitted)
      const { id, isNew } = await submitRun(store, agent, prompt, submitted)
      if (isNew) await push(id)
      return { id }
    },
    async *watch(id, options = {}) {
      checkWatchOptions(options)
      await mustHave(id)
      yield* watchRun(store, id, options)
    },
    async result(id, given = {}) {
      checkResultOptions(given)
      return await waitForResult(store, () => mustHave(id), id, given.signal)
    },
    async answer(id, text) {
      await mustHave(id)
      const message = userMessage(text)
      const changed = await updateHead(store, id, (head) => {
        if (head.status !== "waiting" || head.pending?.kind !== "question") return undefined
        const event = { type: "prompt-steered", message } as const
        const [next, changes] = commitWithEvents(id, [event], ({ pending: _, ...rest }) => ({
          ...rest,
          status: "queued",
        }))
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
    async pendingCall(id, call) {
      const { head } = await mustHave(id)
      if (!head.asked.some((each) => each.id === call && each.decision === undefined)) return undefined
      const entry = await store.get(pendingCallKey(id, call))
      return typeof entry?.value === "string" ? entry.value : undefined
    },
    async steer(id, text) {
      const { head } = await mustHave(id)
      if (hasEnded(head)) throw new AgentError(`Run ${id} has ended; nobody would hear it.`, { code: "ended" })
      const message: InboxMessage = { type: "steer", text: checkSteerText(text) }
      await store.commit([{ type: "append", log: runKeys(id).inbox, items: [message as unknown as Json] }])
    },
    async abort(id, reason) {
      await abort(id, reason)
      setup.warmRuns.discard(id)
      delayed.remove(id)
    },
    async retry(id) {
      await push(id, await retryRun(store, await mustHave(id)))
    },
    async get(id) {
      const found = await readHead(store, id)
      return found && runInfoOf(found.head)
    },
    async *list(filter = {}) {
      checkListFilter(filter)
      const { status = runStatuses, agent, session } = filter
      for await (const { head } of listRuns(store, [status].flat())) {
        const isWanted = (agent ?? head.agent) === head.agent && (session ?? head.session) === head.session
        if (isWanted) yield runInfoOf(head)
      }
    },
    queue: (agent, session) => readSessionQueue(store, agent, session),
    async continueQueue(agent, session) {
      const first = await releaseHeldRuns(store, agent, session)
      if (first !== undefined) await push(first)
    },
    async clearQueue(agent, session) {
      const { pending } = await readSessionQueue(store, agent, session)
      for (const { id } of pending) await engine.abort(id, "The queue of the session was cleared.")
    },
    work,
    drain,
    async recover() {
      // Also where there is nothing to do yet: others submit runs later, and a worker of another machine may be dead.
      await workHere()
      return await recover()
    },
    async delete(id) {
      await mustHave(id)
      await deleteRun(store, id)
    },
    async prune(given) {
      checkPruneOptions(given)
      return await pruneRuns(store, Date.now() - given.olderThanMs)
    },
    async close() {
      isClosed = true
      await drain()
      await backend.close?.()
    },
    [Symbol.asyncDispose]: () => engine.close(),
  }
  return engine
}

const isUnattended = (head: RunHead, silentMs: number, silence: LeaseObserver) =>
  silentMs === 0 || head.status === "running" || (head.refused === undefined && silence.silentFor(head) >= silentMs)
