// Counts the workers that died with a run, and decides when a run that kills its workers fails.
import { AgentError } from "../../core/errors.ts"
import type { EventBody } from "../../core/event.ts"
import type { RunHead } from "../checkpoint.ts"
import { isOwnerGone, type Owner } from "./run-owner.ts"

/** The claims of a run since its last saved cycle, stored before a worker does anything. A worker that drains returns
 *  the run, which does not count as a death. */
export interface Attempts {
  claims: number
  /** How many workers died while they worked on the run beside others. */
  deaths: number
  /** How many workers died while they worked on it alone. */
  aloneDeaths: number
  /** True if the current claim works alone. */
  alone: boolean
}

/** The lease and the attempts of a run that a worker claims. If the previous worker may still be alive, the lease
 *  doubles: otherwise a cell that computes for longer than the lease would move back and forth between workers. */
export function nextClaim(head: RunHead, owner: Owner, leaseMs: number): Pick<RunHead, "attempts" | "lease"> {
  const { lease, attempts = noAttempts } = head
  const from = previousOwnerState(head, owner)
  const isDead = from === "dead" || from === "unknown"
  const deaths = attempts.deaths + (isDead && !attempts.alone ? 1 : 0)
  const aloneDeaths = attempts.aloneDeaths + (isDead && attempts.alone ? 1 : 0)
  const before = Math.max(lease?.forMs ?? 0, leaseMs)
  const forMs = from === "alive" || from === "unknown" ? Math.min(before * 2, Math.max(maxLeaseMs, leaseMs)) : before
  return {
    lease: { owner, forMs: from ? forMs : leaseMs },
    attempts: { claims: attempts.claims + 1, deaths, aloneDeaths, alone: deaths >= maxSharedDeaths },
  }
}

/** The warning if the previous worker of the run may still be alive. */
export function blockedWorkerWarning(head: RunHead, owner: Owner): EventBody | undefined {
  const from = previousOwnerState(head, owner)
  if (from !== "alive" && from !== "unknown") return undefined
  const { forMs = 0 } = head.lease ?? {}
  const message =
    `The worker of this run gave no sign of life for ${forMs} ms, so another one takes the run, with a longer lease. ` +
    "If a cell computes for so long without awaiting anything, use processRuntime or raise leaseMs."
  return { type: "warning-raised", code: "cell-blocks-worker", message }
}

/** Returns true if a worker that claims the run now must work on it alone. */
export function worksAlone(head: RunHead, { owner, leaseMs }: { owner: Owner; leaseMs: number }): boolean {
  return nextClaim(head, owner, leaseMs).attempts?.alone ?? false
}

export function isPoison({ attempts }: RunHead, maxCrashes: number): boolean {
  return (attempts?.aloneDeaths ?? 0) >= maxCrashes
}

export function poisonError({ id, attempts }: RunHead): AgentError {
  const { deaths = 0, aloneDeaths = 0 } = attempts ?? {}
  const message =
    `Run ${id} is set aside: ${deaths + aloneDeaths} workers ended in the same cycle of it, the last ${aloneDeaths} while they ` +
    "worked on nothing else. Find the cause in its log, then call engine.retry(id) or engine.delete(id)."
  return new AgentError(message, { code: "poison" })
}

/** The state of the worker that had the run; undefined if it had returned the run, or if it is this worker. */
function previousOwnerState({ status, lease }: RunHead, owner: Owner): "dead" | "alive" | "unknown" | undefined {
  if (status !== "running" || !lease || lease.owner.id === owner.id) return undefined
  if (isOwnerGone(lease.owner)) return "dead"
  return lease.owner.host === owner.host ? "alive" : "unknown"
}

const noAttempts: Attempts = { claims: 0, deaths: 0, aloneDeaths: 0, alone: false }
const maxSharedDeaths = 2
const maxLeaseMs = 600_000
