import type { Decision } from "../core/agent.ts"
import type { CallPreview } from "../core/event.ts"
import { type Head, keyOfCall } from "./checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

/** The calls of one cycle that wait for approval. What was asked and decided is in the head of the run. */
export interface Approvals {
  decided(key: string): Decision | undefined
  wait(key: string, asked: AskedCall): Promise<Decision>
  /** Lets a held call go on; its decision is stored already. */
  decide(key: string, decision: Decision): void
  /** The calls that are held and not decided. */
  open(head: Head): Head["asked"]
}

/** A call that needs approval. */
export interface AskedCall {
  id: string
  call: CallPreview
  reason?: string | undefined
  /** The whole call, kept in the store until it is answered. */
  text: string
}

interface Hold {
  /** How long a cell is held for an answer. */
  holdMs: number
  /** Fires when this worker is to stop: then no cell is held any longer. */
  stopping: AbortSignal
  /** Fires when the cell is given up, for whatever reason. */
  given: AbortSignal
  /** Called when an answer has taken too long. */
  late(): void
}

export function createApprovals(held: HeldRun, { holdMs, stopping, given, late }: Hold): Approvals {
  const waiting = new Map<string, (decision: Decision) => void>()

  function startHold(): () => void {
    const timer = setTimeout(late, stopping.aborted ? 0 : Math.min(holdMs, longestTimer))
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

  return {
    decided: (key) => held.head.asked.find((each) => each.key === key)?.decision,
    async wait(key, { id, call, reason, text }) {
      const { promise, resolve } = Promise.withResolvers<Decision>()
      waiting.set(key, resolve)
      const entry = { key, id, call, ...(reason !== undefined && { reason }) }
      // Stored at once, so that any process can answer while the cell is held. An earlier decision no longer counts.
      await held.commit(
        (head) => ({ ...head, asked: [...head.asked.filter((each) => each.key !== key), entry] }),
        [{ type: "put", key: keyOfCall(held.head.id, id), value: text }],
      )
      return promise.finally(startHold())
    },
    decide(key, decision) {
      waiting.get(key)?.(decision)
      waiting.delete(key)
    },
    open: (head) => head.asked.filter(({ key, decision }) => decision === undefined && waiting.has(key)),
  }
}

// A timer for longer would fire at once.
const longestTimer = 2 ** 31 - 1
