import type { Decision } from "../core/agent.ts"
import type { CallPreview } from "../core/event.ts"
import type { Head, HeldRun } from "./checkpoint.ts"

/** The calls of one cycle that wait for somebody. */
export interface Approvals {
  decided(key: string): Decision | undefined
  wait(key: string, id: string, call: CallPreview): Promise<Decision>
  decide(key: string, decision: Decision): void
  /** Those that nobody has answered. */
  open(): Head["asked"]
  clear(): void
}

/** `late` is told when a call has waited for so long. */
export function createApprovals(held: HeldRun, holdMs: number, late: () => void): Approvals {
  const waiting = new Map<string, (decision: Decision) => void>()
  let asked = held.head.asked.filter(({ decision }) => decision)
  const decisions = new Map(asked.map(({ key, decision }) => [key, decision]))
  return {
    decided: (key) => decisions.get(key),
    async wait(key, id, call) {
      const { promise, resolve } = Promise.withResolvers<Decision>()
      waiting.set(key, resolve)
      asked = [...asked, { key, id, call }]
      // Told at once, so that it can be answered from anywhere while the cell is held.
      await held.commit((head) => ({ ...head, asked }))
      const timer = setTimeout(late, holdMs)
      return promise.finally(() => clearTimeout(timer))
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
