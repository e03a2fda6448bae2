import type { Decision } from "../core/agent.ts"
import type { CallPreview } from "../core/event.ts"
import { type Head, keyOfCall } from "./checkpoint.ts"
import type { HeldRun } from "./held-run.ts"

/** The calls of one cycle that wait for somebody. */
export interface Approvals {
  decided(key: string): Decision | undefined
  wait(key: string, asked: AskedCall): Promise<Decision>
  decide(key: string, decision: Decision): void
  /** Those that nobody has answered. */
  open(): Head["asked"]
  clear(): void
}

/** A call that somebody is asked about. */
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
  /** Told when an answer has taken too long. */
  late(): void
}

export function createApprovals(held: HeldRun, { holdMs, stopping, given, late }: Hold): Approvals {
  const waiting = new Map<string, (decision: Decision) => void>()
  let asked = held.head.asked.filter(({ decision }) => decision)
  const decisions = new Map(asked.map(({ key, decision }) => [key, decision]))

  function startHold(): () => void {
    const timer = setTimeout(late, stopping.aborted ? 0 : Math.min(holdMs, longestTimer))
    // Of its own: others may be held beside it.
    const stop = () => late()
    const end = () => {
      clearTimeout(timer)
      stopping.removeEventListener("abort", stop)
    }
    stopping.addEventListener("abort", stop)
    // Who is given up never hears an answer.
    given.addEventListener("abort", end, { once: true })
    return end
  }

  return {
    decided: (key) => decisions.get(key),
    async wait(key, { id, call, reason, text }) {
      const { promise, resolve } = Promise.withResolvers<Decision>()
      waiting.set(key, resolve)
      // Of a call that is asked about again, whatever was decided before.
      decisions.delete(key)
      asked = [...asked.filter((each) => each.key !== key), { key, id, call, ...(reason !== undefined && { reason }) }]
      // Told at once, so that it can be answered from anywhere while the cell is held.
      await held.commit(
        (head) => ({ ...head, asked }),
        [{ type: "put", key: keyOfCall(held.head.id, id), value: text }],
      )
      return promise.finally(startHold())
    },
    decide(key, decision) {
      decisions.set(key, decision)
      asked = asked.map((each) => (each.key === key ? { ...each, decision } : each))
      waiting.get(key)?.(decision)
      waiting.delete(key)
    },
    open: () => asked.filter(({ decision }) => decision === undefined),
    clear() {
      asked = []
      decisions.clear()
    },
  }
}

// A timer for longer would fire at once.
const longestTimer = 2 ** 31 - 1
