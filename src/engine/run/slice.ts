// Takes the job of one run: resumes it if it is warm, else claims and loads it, and executes one slice of it.
import { internalsOf } from "../../agent/agent-internals.ts"
import type { Agent } from "../../core/agent.ts"
import { ConflictError } from "../../core/errors.ts"
import type { UnknownPolicy } from "../../runtime/bindings.ts"
import type { Store } from "../../stores/store.ts"
import { hasEnded, readHead } from "../checkpoint.ts"
import { unknownAgentMessage } from "../run-refusal.ts"
import type { RetryPolicy } from "../run-retries.ts"
import { isPoison, poisonError, worksAlone } from "./claim-attempts.ts"
import { failRun, refuseRun } from "./engine-events.ts"
import type { LeaseObserver } from "./lease-observer.ts"
import { claimAndLoadRun, type LoadedRun } from "./load-run.ts"
import { executeClaimedRun } from "./run-execution.ts"
import type { Owner } from "./run-owner.ts"
import type { RunSlots } from "./run-slots.ts"
import type { SliceTimerSetup } from "./slice-timer.ts"
import type { WarmRuns } from "./warm-runs.ts"

export interface SliceSetup extends SliceTimerSetup {
  store: Store
  agents: Readonly<Record<string, Agent>>
  owner: Owner
  leaseMs: number
  leaseObserver: LeaseObserver
  holdMs: number
  maxSnapshotBytes: number
  unknown: UnknownPolicy
  allowChanged: boolean
  retry: RetryPolicy
  /** How many workers may die while they work on the run alone. */
  maxCrashes: number
  warmRuns: WarmRuns
  /** Pushes a job that continues the run. */
  push(id: string, revision: number): Promise<void>
  slots: RunSlots
}

/** How a slice ended. */
export type SliceEnd =
  /** The run continues in another slice, for which a job was pushed. */
  | { type: "requeued"; pushed: Promise<void> | undefined }
  /** The run failed with a retryable error and is retried at that time. */
  | { type: "retry"; at: number }
  /** `held`: another worker has the run. `none`: there is nothing to do. */
  | { type: "waiting" | "ended" | "held" | "refused" | "none" }

/** Executes a run until it ends, waits or has had its time, or until this worker stops. Rejects if it is not known how
 *  far the run came. */
export async function executeSlice(setup: SliceSetup, id: string): Promise<SliceEnd> {
  return setup.warmRuns.runExclusively(id, async () => {
    try {
      const warm = setup.warmRuns.take(id)
      const end = warm && (await setup.slots.enter(false, () => warm.resume()))
      if (end) return end
      const known = await readHead(setup.store, id)
      if (!known) return { type: "none" }
      // The worker that stored this may have failed before it did what follows from it.
      if (known.head.status === "waiting") return { type: "waiting" }
      if (hasEnded(known.head)) return { type: "ended" }
      return await setup.slots.enter(worksAlone(known.head, setup), async () => {
        const loaded = await claimAndLoadRun(setup, known)
        return "held" in loaded ? await startSlice(setup, loaded) : loaded
      })
    } catch (error) {
      // Another worker has taken the run; nothing that this one did since was stored.
      if (error instanceof ConflictError) return { type: "none" }
      throw error
    }
  })
}

async function startSlice(setup: SliceSetup, loaded: LoadedRun): Promise<SliceEnd> {
  const { held } = loaded
  if (isPoison(held.head, setup.maxCrashes)) return await failRun(held, poisonError(held.head))
  const start = internalsOf(setup.agents[held.head.agent])?.startDurableRun
  if (start) return await executeClaimedRun(setup, loaded, start)
  return await refuseRun(held, unknownAgentMessage(held.head, setup.agents)).finally(held.stopRenewing)
}
