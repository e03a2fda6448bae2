// The engine: submits, executes, controls and recovers durable runs that live in a store.
import { internalsOf } from "../agent/agent-internals.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import { checkDecision } from "../core/run-approvals.ts"
import { timerMs } from "../core/time-limit.ts"
import type { StopWorking } from "./backends/backend.ts"
import { inlineBackend } from "./backends/inline.ts"
import * as checkpoint from "./checkpoint.ts"
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
import { createLeaseObserver, type LeaseObserver } from "./run/lease-observer.ts"
import { createOwner } from "./run/run-owner.ts"
import { createRunSlots } from "./run/run-slots.ts"
import { executeSlice, type SliceSetup } from "./run/slice.ts"
import { createWarmRuns } from "./run/warm-runs.ts"
import { createRunControl } from "./run-control.ts"
import { runInfoOf } from "./run-info.ts"
import { checkDurableAgents, heldElsewhereError } from "./run-refusal.ts"
import { retryRun } from "./run-retries.ts"
import { createRunTimers } from "./run-timers.ts"
import { readSessionQueue } from "./session-info.ts"
import { releaseHeldBackRuns } from "./session-queue.ts"
import { submitRun } from "./submit.ts"
import { viewRun } from "./view-run.ts"
import { waitForResult, watchRun } from "./watch-run.ts"

export type { Engine, EngineOptions } from "./engine-contract.ts"

/** Creates an engine that runs agents durably on a store. */
export function createEngine<Name extends string>(options: EngineOptions<Name>): Engine<Name> {
  if (!options?.store) throw new ConfigError('createEngine needs a store, such as store: sqliteStore("karst.db").')
  checkEngineOptions(options)
  const { agents, store, leaseMs = 30_000, holdMs = 30_000, sliceMs = 30_000 } = options
  const {
    maxSnapshotBytes = 16 * 2 ** 20,
    unknown = "fail",
    allowChanged = false,
    maxWarmRuns = 16,
    retry = {},
    maxCrashes = 5,
  } = options
  checkDurableAgents(agents)
  const backend = options.backend ?? inlineBackend()
  const stopping = new AbortController()
  const leaseObserver = createLeaseObserver(leaseMs)
  const setup: SliceSetup = {
    store,
    agents,
    owner: createOwner(),
    leaseMs,
    leaseObserver,
    holdMs,
    sliceMs,
    maxSnapshotBytes,
    unknown,
    allowChanged,
    retry,
    maxCrashes,
    slots: createRunSlots(),
    warmRuns: createWarmRuns(maxWarmRuns),
    push,
    queued: () => backend.countQueued(),
    stopping: stopping.signal,
  }
  // Runs that this engine has refused. Its agents do not change, so it would refuse them again.
  const refused = new Set<string>()
  const stops: StopWorking[] = []
  const retryTimers = createRunTimers((id) => push(id))
  const expiryTimers = createRunTimers(expire)
  let ownWork: Promise<void> | undefined
  let stopPolling: (() => void) | undefined
  let isClosed = false
  let recovering: NodeJS.Timeout | undefined
  let waitingListedAt = -Infinity

  const { requireRun, send, answer, steer, abort, decideUnowned, expireUnowned, processInbox } = createRunControl({
    store,
    leaseObserver,
    push,
    pushNext,
  })

  async function handleJob({ run }: { run: string }): Promise<void> {
    const end = await executeSlice(setup, run)
    if (end.type === "ended") await pushNext(run)
    if (end.type === "waiting") {
      await processInbox(run)
      await expire(run)
    }
    if (end.type === "requeued") await end.pushed
    if (end.type === "retry") retryTimers.add(run, end.at)
    if (end.type === "refused") refused.add(run)
    if (end.type === "held") throw heldElsewhereError(run)
  }

  /** Denies the approvals of a waiting run whose time is over, and sets a timer for the next one that expires. */
  async function expire(id: string): Promise<void> {
    const at = await expireUnowned(id)
    if (at !== undefined) expiryTimers.add(id, at)
  }

  async function push(id: string, revision?: number): Promise<void> {
    await backend.push({ run: id, revision: revision ?? (await checkpoint.readHead(store, id))?.revision ?? 0 })
    await workHere()
  }

  async function workHere(): Promise<void> {
    if (options.backend) return
    ownWork ??= work()
    await ownWork
  }

  async function work(given: { maxParallel?: number | undefined } = {}): Promise<void> {
    checkWorkOptions(given)
    const { maxParallel = 4 } = given
    if (stopping.signal.aborted) return
    stops.push(await backend.start(handleJob, { maxParallel }))
    recovering ??= setInterval(() => recover(leaseMs).catch(() => undefined), timerMs(leaseMs / 2)).unref()
    if (!backend.isShared)
      stopPolling ??= pollForQueuedRuns({ store, queued: setup.queued, recover: () => recover(0, isKnown) })
  }

  // Pushes the next run of the same session. Runs that were aborted in the queue are skipped.
  async function pushNext(id: string): Promise<void> {
    for (let last = id; ; ) {
      const next = (await store.get(checkpoint.runKeys(last).next))?.value
      const found = typeof next === "string" ? await checkpoint.readHead(store, next) : undefined
      if (!found) return
      if (!checkpoint.hasEnded(found.head)) return await push(found.head.id, found.revision)
      last = found.head.id
    }
  }

  // Runs of unknown agents are left to the engines that have these agents.
  const isKnown = (agent: string) => Object.hasOwn(agents, agent)

  /** Pushes jobs for runs without a worker. With `silentMs`, only for runs whose records have not changed for so long:
   *  others still have a job in a queue. */
  async function recover(silentMs = 0, isOurs = (_agent: string) => true): Promise<string[]> {
    const found: string[] = []
    for await (const { head, revision } of checkpoint.listRuns(store, ["queued", "running", ...waitingNow()])) {
      const isFree = isClaimable(head, { leaseObserver }) && isUnattended(head, silentMs, leaseObserver)
      if (!isOurs(head.agent)) continue
      if (head.status === "waiting") {
        await processInbox(head.id)
        await expire(head.id)
      } else if (head.retryAt !== undefined && head.retryAt > Date.now()) retryTimers.add(head.id, head.retryAt)
      else if (isFree && !(head.refused && refused.has(head.id))) {
        found.push(head.id)
        await push(head.id, head.refused ? await clearRefusal(head.id) : revision)
      }
    }
    return found
  }

  // A waiting run needs attention only if its worker died just as it began to wait. There may be many waiting runs, so
  // they are listed rarely.
  function waitingNow(): ["waiting"] | [] {
    if (performance.now() - waitingListedAt < 10 * leaseMs) return []
    waitingListedAt = performance.now()
    return ["waiting"]
  }

  // Removes the refusal, so that `result` waits for the new attempt instead of throwing.
  async function clearRefusal(id: string): Promise<number | undefined> {
    const changed = await checkpoint.updateHead(store, id, ({ refused, ...head }) => (refused ? { head } : undefined))
    return changed?.revision
  }

  const viewOf = async (id: string) => await viewRun(store, await requireRun(id))

  async function drain(): Promise<void> {
    stopping.abort()
    clearInterval(recovering)
    stopPolling?.()
    retryTimers.close()
    expiryTimers.close()
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
      internalsOf(agents[agent])?.checkDurableOptions(submitted)
      const { id, isNew } = await submitRun(store, agent, prompt, submitted)
      if (isNew) await push(id)
      return { id }
    },
    async *watch(id, options = {}) {
      checkWatchOptions(options)
      await requireRun(id)
      yield* watchRun(store, id, options)
    },
    async result(id, given = {}) {
      checkResultOptions(given)
      return await waitForResult(store, () => viewOf(id), id, given.signal)
    },
    answer,
    async approve(id, call, decision) {
      checkDecision("engine.approve", decision)
      const { head } = await viewOf(id)
      const asked = head.asked.find((each) => each.id === call && each.decision === undefined)
      if (!asked) throw new AgentError(`No approval "${call}" is waiting in run ${id}.`, { code: "unknown-approval" })
      const isDelivered =
        (await send(id, { type: "decision", key: asked.key, decision })) ||
        (await decideUnowned(id, asked.key, decision))
      if (!isDelivered)
        throw new AgentError(`No approval "${call}" is waiting in run ${id}.`, { code: "unknown-approval" })
    },
    async pendingCall(id, call) {
      const { head } = await viewOf(id)
      if (!head.asked.some((each) => each.id === call && each.decision === undefined)) return undefined
      const entry = await store.get(checkpoint.pendingCallKey(id, call))
      return typeof entry?.value === "string" ? entry.value : undefined
    },
    steer,
    async abort(id, reason) {
      await abort(id, reason)
      setup.warmRuns.discard(id)
      retryTimers.remove(id)
    },
    async retry(id) {
      await push(id, await retryRun(store, await requireRun(id)))
    },
    async get(id) {
      const found = await checkpoint.readHead(store, id)
      return found && runInfoOf((await viewRun(store, found)).head)
    },
    async *list(filter = {}) {
      checkListFilter(filter)
      const { status = checkpoint.runStatuses, agent, session } = filter
      for await (const { head } of checkpoint.listRuns(store, [status].flat(), (found) => viewRun(store, found))) {
        const isWanted = (agent ?? head.agent) === head.agent && (session ?? head.session) === head.session
        if (isWanted) yield runInfoOf(head)
      }
    },
    queue: (agent, session) => readSessionQueue(store, agent, session),
    async continueQueue(agent, session) {
      const first = await releaseHeldBackRuns(store, agent, session)
      if (first !== undefined) await push(first)
    },
    async clearQueue(agent, session) {
      const { pending } = await readSessionQueue(store, agent, session)
      for (const { id } of pending) await engine.abort(id, "The queue of the session was cleared.")
    },
    work,
    drain,
    async recover() {
      // Start working even if there is nothing to do yet: other processes may submit runs, and workers elsewhere may
      // die.
      await workHere()
      return await recover()
    },
    async delete(id) {
      const { status } = (await requireRun(id)).head
      // Its worker holds a call for approval.
      if (status === "running" && (await viewOf(id)).head.status === "waiting") await engine.abort(id)
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

const isUnattended = (head: checkpoint.RunHead, silentMs: number, observer: LeaseObserver) =>
  silentMs === 0 || head.status === "running" || (head.refused === undefined && observer.silentFor(head) >= silentMs)
