// Computes the head of a run after a checkpoint or a failure.
import type { Conversation } from "../../agent/conversation.ts"
import type { RunState } from "../../agent/run/run-state.ts"
import type { AgentEvent, Pending } from "../../core/event.ts"
import type { RunHead, SnapshotInfo } from "../checkpoint.ts"
import { usageOfState } from "../run-info.ts"
import type { SessionStart } from "../session-info.ts"
import type { AgentDefinition } from "./agent-definition.ts"

export interface CheckpointProgress {
  status: RunHead["status"]
  state: RunState
  conversation: Conversation
  /** The events since the last save. */
  events: readonly AgentEvent[]
  /** True if a cycle has ended since then. */
  isCycle: boolean
  /** Texts of the user that the model has not received. */
  undeliveredSteers: string[]
  /** The length of a lease without earlier attempts. */
  leaseMs: number
  definition: AgentDefinition | undefined
  snapshot: SnapshotInfo | undefined
  pending: Pending | undefined
  /** The run that stores the folded conversation. */
  folded: string | undefined
  sessionStart: SessionStart | undefined
  /** The number of the next event. */
  seq: number
}

/** The head after a save. After a saved cycle, earlier retries and attempts no longer count. */
export function headAfterSave(head: RunHead, progress: CheckpointProgress): RunHead {
  const { status, conversation, definition, snapshot, pending } = progress
  const { counts } = conversation.artifacts
  const { pending: _, gone: __, interrupted: ___, lease: current, retries, attempts, ...rest } = head
  // A lease that was prolonged for this cycle returns to its normal length.
  const lease = current && progress.isCycle ? { ...current, forMs: progress.leaseMs } : current
  return {
    ...rest,
    ...progress.sessionStart,
    ...(retries && !progress.isCycle && { retries }),
    ...(attempts && !progress.isCycle && { attempts }),
    status,
    state: copyState(progress.state),
    ...(conversation.systemRun !== undefined && { systemRun: conversation.systemRun }),
    ...(conversation.promptHash !== undefined && { promptHash: conversation.promptHash }),
    told: [...conversation.announcedNames],
    ...(conversation.namesReportedLost.size > 0 && { gone: [...conversation.namesReportedLost] }),
    ...(Object.keys(counts).length > 0 && { artifacts: { ...counts } }),
    unheard: progress.undeliveredSteers,
    stored: head.stored + progress.events.length,
    seq: progress.seq,
    asked: [],
    ...(definition && { definition }),
    ...(snapshot && { snapshot }),
    ...(pending && { pending }),
    ...(progress.folded !== undefined && { folded: progress.folded }),
    ...(status === "running" && lease && { lease }),
    ...(status === "failed" && { failedFrom: head.stored }),
  }
}

/** The head of a failed run. It stays as the last saved cycle left it, so that a retry continues from there. */
export function headAfterFailure(
  head: RunHead,
  conversation: Conversation,
  { events, seq, state: ended }: Pick<CheckpointProgress, "events" | "seq" | "state">,
): RunHead {
  const { lease: _, pending: __, ...rest } = head
  const { approved, state, artifacts } = conversation
  const failedWith = { approved: [...approved], tools: { ...state.values }, artifacts: { ...artifacts.counts } }
  const stored = head.stored + events.length
  const used = usageOfState(ended)
  return { ...rest, status: "failed", asked: [], failedFrom: head.stored, failedWith, used, stored, seq }
}

// The run changes counts, approvals and the state of tools in place.
function copyState(state: RunState): RunState {
  const { calls, approved, tools } = state
  return {
    ...state,
    calls: { total: calls.total, of: { ...calls.of } },
    approved: [...approved],
    // The values themselves are frozen.
    tools: { ...tools },
  }
}
