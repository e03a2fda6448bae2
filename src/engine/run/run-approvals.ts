import type { ApprovalAnswer } from "../../actions/approval.ts"
import type { Decision } from "../../core/agent.ts"
import type { CallPreview } from "../../core/event.ts"
import { pendingCallKey, type RunHead } from "../checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

/** The calls of one cycle that wait for approval. What was asked and decided is in the head of the run. */
export interface Approvals {
  decided(key: string): ApprovalAnswer | undefined
  wait(key: string, asked: ApprovalCall): Promise<ApprovalAnswer>
  /** Lets a held call go on; its decision is stored already. */
  decide(key: string, decision: Decision): void
  /** The calls that are held and not decided. */
  undecided(head: RunHead): RunHead["asked"]
}

/** A call that needs approval. */
export interface ApprovalCall {
  id: string
  call: CallPreview
  reason?: string | undefined
  /** The whole call, kept in the store until it is answered. */
  text: string
  /** How long it may stay unanswered. */
  timeoutMs?: number | undefined
}

interface HoldOptions {
  /** How long a cell is held for an answer. */
  holdMs: number
  /** Fires when this worker is to stop: then no cell is held any longer. */
  stopping: AbortSignal
  /** Fires when the cell is given up, for whatever reason. */
  cellAborted: AbortSignal
  /** Called when an answer has taken too long. */
  onHoldExpired(): void
}

export function createApprovals(
  held: HeldRun,
  { holdMs, stopping, cellAborted: given, onHoldExpired: late }: HoldOptions,
): Approvals {
  const waiting = new Map<string, (answer: ApprovalAnswer) => void>()

  function startHold(): () => void {
    const timer = setTimeout(late, stopping.aborted ? 0 : Math.min(holdMs, maxTimerMs))
    // Each hold has its own listener: several calls may be held side by side.
    const stop = () => late()
    const end = () => {
      clearTimeout(timer)
      stopping.removeEventListener("abort", stop)
    }
    stopping.addEventListener("abort", stop)
    // A call of a cell that was given up never gets an answer.
    given.addEventListener("abort", end, { once: true })
    return end
  }

  /** Refuses a call at that time, unless it is answered before; gives the way to stop waiting. The refusal is stored first. */
  function startExpiry(key: string, expiresAt: number | undefined): () => void {
    if (expiresAt === undefined || expiresAt - Date.now() > maxTimerMs) return () => {}
    const expire = () => {
      const commit = held.commit((head) => ({ ...head, asked: denyExpired(head.asked, expiresAt) }))
      commit.then(() => decide(key, storedAnswer(held.head, key) ?? "unanswered")).catch(() => undefined)
    }
    const timer = setTimeout(expire, Math.max(0, expiresAt - Date.now()))
    const end = () => clearTimeout(timer)
    given.addEventListener("abort", end, { once: true })
    return end
  }

  function decide(key: string, answer: ApprovalAnswer): void {
    waiting.get(key)?.(answer)
    waiting.delete(key)
  }

  return {
    decided: (key) => storedAnswer(held.head, key),
    async wait(key, { id, call, reason, text, timeoutMs }) {
      const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>()
      waiting.set(key, resolve)
      // The time goes on from the first question when the cell is run again.
      const before = held.head.asked.find((each) => each.key === key && each.decision === undefined)
      const expiresAt = before?.expiresAt ?? (timeoutMs === undefined ? undefined : Date.now() + timeoutMs)
      const entry = {
        key,
        id,
        call,
        ...(reason !== undefined && { reason }),
        ...(expiresAt !== undefined && { expiresAt }),
      }
      // Stored at once, so that any process can answer while the cell is held. An earlier decision no longer counts.
      await held.commit(
        (head) => ({ ...head, asked: [...head.asked.filter((each) => each.key !== key), entry] }),
        [{ type: "put", key: pendingCallKey(held.head.id, id), value: text }],
      )
      return promise.finally(startHold()).finally(startExpiry(key, expiresAt))
    },
    decide,
    undecided: (head) => head.asked.filter(({ key, decision }) => decision === undefined && waiting.has(key)),
  }
}

/** The approvals of a run, with those refused whose time is over. */
export function denyExpired(asked: RunHead["asked"], now: number): RunHead["asked"] {
  return asked.map((each) => (isExpired(each, now) ? { ...each, decision: "deny", expired: true } : each))
}

/** Whether an approval is open past its time. */
export function isExpired({ decision, expiresAt }: RunHead["asked"][number], now: number): boolean {
  return decision === undefined && expiresAt !== undefined && expiresAt <= now
}

/** When the next open approval of a run is refused; undefined where none ever is. */
export function nextExpiry({ asked }: RunHead): number | undefined {
  const open = asked.filter(({ decision }) => decision === undefined)
  const times = open.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt]))
  return times.length > 0 ? Math.min(...times) : undefined
}

function storedAnswer({ asked }: RunHead, key: string): ApprovalAnswer | undefined {
  const found = asked.find((each) => each.key === key)
  return found?.expired ? "unanswered" : found?.decision
}

// A timer for longer would fire at once.
const maxTimerMs = 2 ** 31 - 1
