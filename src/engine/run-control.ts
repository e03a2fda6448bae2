import { setTimeout as sleep } from "node:timers/promises"
import type { Decision } from "../core/agent.ts"
import { AgentError, ConflictError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { noUsage } from "../core/usage.ts"
import type { Store, StoreChange } from "../stores/store.ts"
import { hasEnded, type RunHead, readHead, runKeys, type StoredRunHead, updateHead } from "./checkpoint.ts"
import { followLog } from "./follow-log.ts"
import { isClaimable } from "./run/claim-run.ts"
import { approvalResolvedEvent, commitWithEvents } from "./run/engine-events.ts"
import type { LeaseObserver } from "./run/lease-observer.ts"
import { denyExpired, nextExpiry } from "./run/run-approvals.ts"
import { type InboxMessage, readInboxMessages } from "./run/run-inbox.ts"

/** What can be done to runs from outside, whether a worker holds them or not. */
export interface RunControl {
  requireRun(id: string): Promise<StoredRunHead>
  /** Sends a message to the worker of a run; false where it has none. */
  send(id: string, message: InboxMessage): Promise<boolean>
  /** Ends a run, by its worker or, where that is gone or gives no sign of life for its lease, by itself. Resolves when the run
   *  has ended. */
  abort(id: string, reason?: string): Promise<void>
  /** Ends a run that no worker holds, or whose worker is gone. */
  abortUnowned(id: string, reason?: string): Promise<StoredRunHead | undefined>
  /** Answers an approval of a run that no worker holds. */
  decideUnowned(id: string, key: string, decision: Decision): Promise<boolean>
  /** Refuses the calls of a run that no worker holds whose approval was not answered in time. Gives when the next one is refused;
   *  undefined where none ever is. */
  expireUnowned(id: string): Promise<number | undefined>
  /** Acts on messages that came while the run was about to wait. */
  processInbox(id: string): Promise<void>
}

export interface RunControlSetup {
  store: Store
  silence: LeaseObserver
  push(id: string, revision?: number): Promise<void>
  pushNext(id: string): Promise<void>
}

export function createRunControl({ store, silence, push, pushNext }: RunControlSetup): RunControl {
  async function readMessages(id: string): Promise<void> {
    const found = await readHead(store, id)
    if (found?.head.status !== "waiting") return
    for (const message of await readInboxMessages(store, id, found.head.inbox)) {
      if (message.type === "abort") await endIdle(id, message.reason)
      if (message.type === "decision") await decideIdle(id, message.key, message.decision)
    }
  }

  async function endIdle(id: string, reason?: string): Promise<StoredRunHead | undefined> {
    const ended = await updateHead(store, id, (head) => {
      if (hasEnded(head) || (head.status === "running" && !isClaimable(head, { silence }))) return undefined
      const { cycle: cycles = 0, usage: saved = noUsage, output = "" } = head.state ?? {}
      // The cycle that a lost worker had under way was not counted.
      const usage = head.status === "running" ? { ...saved, complete: false } : saved
      const detail = reason === undefined ? {} : { detail: reason }
      const end = { type: "run-end", status: "aborted", output, cycles, usage, ...detail } as const
      const [next, changes] = commitWithEvents(id, [end], ({ pending: _, lease: __, retryAt: ___, ...rest }) => ({
        ...rest,
        status: "aborted",
      }))
      return { head: next(head), changes }
    })
    if (ended) await pushNext(id)
    return ended
  }

  function decideIdle(id: string, key: string, decision: Decision): Promise<boolean> {
    return answerIdle(id, (asked) =>
      asked.map((each) => (each.key === key && each.decision === undefined ? { ...each, decision } : each)),
    )
  }

  async function expireIdle(id: string): Promise<number | undefined> {
    const found = await readHead(store, id)
    if (found?.head.status !== "waiting" || nextExpiry(found.head) === undefined) return undefined
    await answerIdle(id, (asked) => denyExpired(asked, Date.now()))
    const now = await readHead(store, id)
    return now?.head.status === "waiting" ? nextExpiry(now.head) : undefined
  }

  async function answerIdle(id: string, answer: (asked: RunHead["asked"]) => RunHead["asked"]): Promise<boolean> {
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
          first
            ? { ...rest, asked, pending: { kind: "approval", id: first.id, call: first.call } }
            : { ...rest, asked, status: "queued" },
      )
      return { head: next(head), changes }
    })
    if (changed?.head.status === "queued") await push(id, changed.revision)
    return changed !== undefined
  }

  async function send(id: string, message: InboxMessage): Promise<boolean> {
    for (;;) {
      const { head, revision } = await mustHave(id)
      if (head.status !== "running") return false
      const change: StoreChange = { type: "append", log: runKeys(id).inbox, items: [message as unknown as Json] }
      try {
        const guard = { key: runKeys(id).head, ifRevision: revision }
        await store.commit([change], guard, { evenIfFull: message.type === "abort" })
        return true
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
      }
    }
  }

  async function abort(id: string, reason?: string): Promise<void> {
    const over = new AbortController()
    const rests = followLog(store, runKeys(id).rests, 0, over.signal)
    let next: Promise<unknown> | undefined
    let isSent = false
    try {
      for (;;) {
        if (hasEnded((await mustHave(id)).head) || (await endIdle(id, reason))) return
        if (!isSent) isSent = await send(id, { type: "abort", ...(reason !== undefined && { reason }) })
        next ??= rests.next().finally(() => (next = undefined))
        await Promise.race([next, sleep(ownerCheckMs)])
      }
    } finally {
      over.abort()
      next?.catch(() => undefined)
    }
  }

  async function mustHave(id: string): Promise<StoredRunHead> {
    const found = await readHead(store, id)
    if (!found) throw new AgentError(`There is no run "${id}" in this store.`, { code: "unknown-run" })
    return found
  }

  return {
    requireRun: mustHave,
    send,
    abort,
    abortUnowned: endIdle,
    decideUnowned: decideIdle,
    expireUnowned: expireIdle,
    processInbox: readMessages,
  }
}

// How often it is looked whether the worker of a run is gone.
const ownerCheckMs = 250
