// Controls runs from any process: abort, approvals and messages, with or without a worker.
import { setTimeout as sleep } from "node:timers/promises"
import type { Decision } from "../core/agent.ts"
import { AgentError, ConflictError } from "../core/errors.ts"
import { asJson } from "../core/json.ts"
import { checkSteerText, userMessage } from "../core/message.ts"
import type { Store, StoreChange } from "../stores/store.ts"
import { hasEnded, type RunHead, readHead, runKeys, type StoredRunHead, updateHead } from "./checkpoint.ts"
import { followLog } from "./follow-log.ts"
import { pendingApproval } from "./open-approvals.ts"
import { isClaimable } from "./run/claim-run.ts"
import { abortCommit, approvalResolvedEvent, commitWithEvents, seqAfterCrash } from "./run/engine-events.ts"
import type { LeaseObserver } from "./run/lease-observer.ts"
import { denyExpired, nextExpiry } from "./run/run-approvals.ts"
import { type InboxMessage, readInboxMessages } from "./run/run-inbox.ts"

export interface RunControlSetup {
  store: Store
  leaseObserver: LeaseObserver
  push(id: string, revision?: number): Promise<void>
  pushNext(id: string): Promise<void>
}

/** Acts on runs from outside, whether a worker holds them or not. */
export function createRunControl({ store, leaseObserver, push, pushNext }: RunControlSetup) {
  /** Acts on messages that arrived just before the run began to wait. */
  async function processInbox(id: string): Promise<void> {
    const found = await readHead(store, id)
    if (found?.head.status !== "waiting") return
    for (const message of await readInboxMessages(store, id, found.head.inbox)) {
      if (message.type === "abort") await abortUnowned(id, message.reason)
      if (message.type === "decision") await decideUnowned(id, message.key, message.decision)
    }
  }

  /** Aborts a run that no worker holds, or whose worker is gone. */
  async function abortUnowned(id: string, reason?: string): Promise<StoredRunHead | undefined> {
    const ended = await updateHead(store, id, (head) => {
      if (hasEnded(head) || (head.status === "running" && !isClaimable(head, { leaseObserver }))) return undefined
      const [next, changes] = abortCommit(head, reason === undefined ? {} : { detail: reason })
      const seq = head.status === "running" ? seqAfterCrash(head) : head.seq
      return { head: next({ ...head, seq }), changes }
    })
    if (ended) await pushNext(id)
    return ended
  }

  /** Answers an approval of a run that no worker holds. */
  function decideUnowned(id: string, key: string, decision: Decision): Promise<boolean> {
    return answerUnowned(id, (asked) =>
      asked.map((each) => (each.key === key && each.decision === undefined ? { ...each, decision } : each)),
    )
  }

  /** Denies the approvals of a waiting run that were not answered in time. Returns when the next one expires; undefined
   *  if none does. */
  async function expireUnowned(id: string): Promise<number | undefined> {
    const found = await readHead(store, id)
    if (found?.head.status !== "waiting" || nextExpiry(found.head) === undefined) return undefined
    await answerUnowned(id, (asked) => denyExpired(asked, Date.now()))
    const now = await readHead(store, id)
    return now?.head.status === "waiting" ? nextExpiry(now.head) : undefined
  }

  async function answerUnowned(id: string, answer: (asked: RunHead["asked"]) => RunHead["asked"]): Promise<boolean> {
    const changed = await updateHead(store, id, (head) => {
      if (head.status !== "waiting") return undefined
      const asked = answer(head.asked)
      const answered = asked.filter((each, index) => each.decision !== head.asked[index]?.decision)
      if (answered.length === 0) return undefined
      const [first] = asked.filter((each) => each.decision === undefined)
      const [next, changes] = commitWithEvents(
        id,
        answered.map((each) => approvalResolvedEvent(each, each.decision ?? "deny")),
        ({ pending: _, ...rest }) =>
          first ? { ...rest, asked, pending: pendingApproval(first) } : { ...rest, asked, status: "queued" },
      )
      return { head: next(head), changes }
    })
    if (changed?.head.status === "queued") await push(id, changed.revision)
    return changed !== undefined
  }

  /** Sends a message to the worker of a run; false if no worker has it. */
  function send(id: string, message: InboxMessage): Promise<boolean> {
    return appendWhile(id, message, (head) => head.status === "running")
  }

  /** Adds a message to the inbox of a run; false if the run is not in the state that is required for it. */
  async function appendWhile(id: string, message: InboxMessage, canReceive: (head: RunHead) => boolean) {
    for (;;) {
      const { head, revision } = await requireRun(id)
      if (!canReceive(head)) return false
      const change: StoreChange = { type: "append", log: runKeys(id).inbox, items: [asJson(message)] }
      try {
        const guard = { key: runKeys(id).head, ifRevision: revision }
        await store.commit([change], guard, { evenIfFull: message.type === "abort" })
        return true
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
      }
    }
  }

  /** Answers the question of a waiting run and pushes a job for it. */
  async function answer(id: string, text: string): Promise<void> {
    await requireRun(id)
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
  }

  /** Sends a text to the model, also if no worker has the run. */
  async function steer(id: string, text: string): Promise<void> {
    const message: InboxMessage = { type: "steer", text: checkSteerText(text) }
    if (await appendWhile(id, message, (head) => !hasEnded(head))) return
    throw new AgentError(`Run ${id} has ended; nothing would read it.`, { code: "ended" })
  }

  /** Ends a run and resolves when it has ended. Its worker does it; if the worker is gone, or gives no sign of life for
   *  its lease, this process does it. */
  async function abort(id: string, reason?: string): Promise<void> {
    const ended = new AbortController()
    const restLog = followLog(store, runKeys(id).rests, 0, ended.signal)
    let next: Promise<unknown> | undefined
    let isSent = false
    try {
      for (;;) {
        if (hasEnded((await requireRun(id)).head) || (await abortUnowned(id, reason))) return
        if (!isSent) isSent = await send(id, { type: "abort", ...(reason !== undefined && { reason }) })
        next ??= restLog.next().finally(() => (next = undefined))
        await Promise.race([next, sleep(ownerCheckMs)])
      }
    } finally {
      ended.abort()
      next?.catch(() => undefined)
    }
  }

  /** Throws an error of code `unknown-run` if there is no such run. */
  async function requireRun(id: string): Promise<StoredRunHead> {
    const found = await readHead(store, id)
    if (!found) throw new AgentError(`There is no run "${id}" in this store.`, { code: "unknown-run" })
    return found
  }

  return { requireRun, send, answer, steer, abort, abortUnowned, decideUnowned, expireUnowned, processInbox }
}

// How often `abort` checks whether the worker of the run is gone.
const ownerCheckMs = 250
