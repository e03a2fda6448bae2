// Approvals of held calls: requests stored in the run, decisions, and their time limits.
import type { ApprovalAnswer } from "../../actions/approval.ts"
import type { Decision } from "../../core/agent.ts"
import type { AgentEvent, CallPreview } from "../../core/event.ts"
import { asJson } from "../../core/json.ts"
import { maxTimerMs, timerMs } from "../../core/time-limit.ts"
import { pendingCallKey, type RunHead, runKeys } from "../checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

/** The calls of one cycle that wait for approval. Requests and decisions are stored in the head of the run. */
export interface Approvals {
  recordedAnswer(key: string): ApprovalAnswer | undefined
  wait(key: string, asked: ApprovalCall): Promise<ApprovalAnswer>
  /** Continues a held call with a decision that is already stored. */
  decide(key: string, decision: Decision): void
  /** The requests of held calls without a decision. */
  undecided(head: RunHead): RunHead["asked"]
}

/** A call that needs approval. */
export interface ApprovalCall {
  id: string
  call: CallPreview
  reason?: string | undefined
  /** The text of the whole call, stored until it is answered. */
  text: string
  /** After this time without an answer the call is denied. */
  timeoutMs?: number | undefined
  /** Fires when the call ends without an answer. */
  signal: AbortSignal
}

interface HoldOptions {
  /** How long a cell is held for an answer. */
  holdMs: number
  /** Fires when this worker must stop: then no cell is held any longer. */
  stopping: AbortSignal
  /** Fires when the cell is aborted for any reason. */
  cellAborted: AbortSignal
  /** Called when the hold time of a call is over. */
  onHoldExpired(): void
  /** The events of the cycle under way. They are stored with a request, so that others see it at once. */
  unsavedEvents(): AgentEvent[]
}

export function createApprovals(
  held: HeldRun,
  { holdMs, stopping, cellAborted, onHoldExpired, unsavedEvents }: HoldOptions,
): Approvals {
  const waiting = new Map<string, (answer: ApprovalAnswer) => void>()

  function startHold(): () => void {
    const timer = setTimeout(onHoldExpired, stopping.aborted ? 0 : timerMs(holdMs))
    // Each hold has its own listener, because several calls may be held at once.
    const stop = () => onHoldExpired()
    const end = () => {
      clearTimeout(timer)
      stopping.removeEventListener("abort", stop)
    }
    stopping.addEventListener("abort", stop)
    // A call of an aborted cell never gets an answer.
    cellAborted.addEventListener("abort", end, { once: true })
    return end
  }

  /** Denies a call at that time, after storing the decision. Returns a function that cancels this. */
  function startExpiry(key: string, expiresAt: number | undefined): () => void {
    if (expiresAt === undefined || expiresAt - Date.now() > maxTimerMs) return () => {}
    const expire = () => {
      const commit = held.commit((head) => ({ ...head, asked: denyExpired(head.asked, expiresAt) }))
      commit.then(() => decide(key, storedAnswer(held.head, key) ?? "unanswered")).catch(() => undefined)
    }
    const timer = setTimeout(expire, timerMs(Math.max(0, expiresAt - Date.now())))
    const end = () => clearTimeout(timer)
    cellAborted.addEventListener("abort", end, { once: true })
    return end
  }

  function decide(key: string, answer: ApprovalAnswer): void {
    waiting.get(key)?.(answer)
    waiting.delete(key)
  }

  // The cell has ended without the call, so nobody needs to answer. If the whole run stops here, the request stays.
  function withdraw(key: string, id: string): void {
    if (cellAborted.aborted || !waiting.delete(key)) return
    const isOther = (each: RunHead["asked"][number]) => each.id !== id || each.decision !== undefined
    held.commit((head) => ({ ...head, asked: head.asked.filter(isOther) })).catch(() => undefined)
  }

  return {
    recordedAnswer: (key) => storedAnswer(held.head, key),
    async wait(key, { id, call, reason, text, timeoutMs, signal }) {
      const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>()
      waiting.set(key, resolve)
      // When the cell is executed again, the time still counts from the first request.
      const before = held.head.asked.find((each) => each.key === key && each.decision === undefined)
      const expiresAt = before?.expiresAt ?? (Number.isFinite(timeoutMs) ? Date.now() + Number(timeoutMs) : undefined)
      const entry = {
        key,
        id,
        claim: held.head.fence,
        call,
        ...(reason !== undefined && { reason }),
        ...(expiresAt !== undefined && { expiresAt }),
      }
      // Stored at once, so that any process can answer while the cell is held. It replaces an earlier request with its
      // decision.
      await held.commit(
        (head) => ({ ...head, asked: [...head.asked.filter((each) => each.key !== key), entry] }),
        ({ id: run, stored }) => [
          { type: "put", key: pendingCallKey(run, id), value: text },
          { type: "put", key: runKeys(run).unsaved, value: asJson({ stored, events: unsavedEvents() }) },
        ],
      )
      signal.addEventListener("abort", () => withdraw(key, id), { once: true })
      return promise.finally(startHold()).finally(startExpiry(key, expiresAt))
    },
    decide,
    undecided: (head) => head.asked.filter(({ key, decision }) => decision === undefined && waiting.has(key)),
  }
}

/** The approvals with the expired ones denied. */
export function denyExpired(asked: RunHead["asked"], now: number): RunHead["asked"] {
  return asked.map((each) => (isExpired(each, now) ? { ...each, decision: "deny", expired: true } : each))
}

/** Returns true if the approval has no decision and its time is over. */
function isExpired({ decision, expiresAt }: RunHead["asked"][number], now: number): boolean {
  return decision === undefined && expiresAt !== undefined && expiresAt <= now
}

/** When the next approval without a decision expires; undefined if none does. */
export function nextExpiry({ asked }: RunHead): number | undefined {
  const open = asked.filter(({ decision }) => decision === undefined)
  const times = open.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt]))
  return times.length > 0 ? Math.min(...times) : undefined
}

function storedAnswer({ asked }: RunHead, key: string): ApprovalAnswer | undefined {
  const found = asked.find((each) => each.key === key)
  return found?.expired ? "unanswered" : found?.decision
}
