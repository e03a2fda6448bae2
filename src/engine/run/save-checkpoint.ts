// Saves the checkpoint of a run after each cycle and at its end, and requeues a run that yields to other jobs.
import type { RunProgress } from "../../agent/run/durable-run.ts"
import type { AgentEvent } from "../../core/event.ts"
import type { RunHead } from "../checkpoint.ts"
import { headAfterFailure, headAfterSave } from "./checkpoint-head.ts"
import { checkpointChanges } from "./checkpoint-records.ts"
import type { RunExecution } from "./run-execution.ts"
import { takeSnapshot } from "./run-snapshots.ts"

/** Commits the new events with the state, the objects and the artifacts. If the slice has had its time, the next job of
 *  the run is pushed and the run stops after this cycle. */
export async function saveCheckpoint(execution: RunExecution, progress: RunProgress): Promise<void> {
  const { setup, held, journal, loaded, timer } = execution
  const { state, conversation, hasEnded, objects } = progress
  if (state.end?.status === "failed") return hasEnded ? await saveFailure(execution, progress) : undefined
  const { id } = held.head
  const received = execution.inbox?.received ?? 0
  const isCycle = state.cycle > timer.cycle && !hasEnded
  if (isCycle) journal.reportUnaskedCalls()
  const events = conversation.events.slice(execution.savedEvents)
  execution.savedEvents = conversation.events.length
  const snapshot =
    execution.config && (await takeSnapshot(execution.config, conversation, events, held.head, setup.maxSnapshotBytes))
  const pending = !hasEnded && state.end?.status === "waiting" ? state.end.pending : undefined
  const yields = isCycle && !state.end && (await timer.isOver())
  const status = endStatus(events, id) ?? (pending ? "waiting" : yields ? "queued" : "running")
  const artifacts = conversation.artifacts.unsaved()
  const changes = checkpointChanges(id, { events, artifacts, objects, snapshot: snapshot?.changes })
  const folded = loaded.folding.advance(conversation, id, events.length)
  const next = (head: RunHead): RunHead =>
    headAfterSave(head, {
      status,
      state,
      conversation,
      events,
      isCycle,
      leaseMs: setup.leaseMs,
      // Texts that arrived after the loop had collected the others.
      undeliveredSteers: [...progress.undeliveredSteers, ...(execution.inbox?.steersAfter(received) ?? [])],
      definition: execution.definition,
      snapshot: snapshot?.note,
      pending,
      folded: loaded.folding.run,
      sessionStart: loaded.sessionStart,
      // The event of the checkpoint has the next number and is not stored.
      seq: execution.nextSeq() + (hasEnded ? 0 : 1),
    })
  if (yields) pushNextJob(execution)
  await held.commit(next, (head) => [...changes, ...folded(head)], { endsCycle: true })
  conversation.artifacts.removeSaved(artifacts)
  // Before `stop` is set: a run that stops reports nothing more.
  if (!hasEnded) execution.emit({ type: "checkpoint-saved", revision: held.revision })
  if (status !== "running") execution.stop = hasEnded ? "ended" : yields ? "requeued" : "waiting"
  journal.startCycle(state.cycle)
}

/** Commits the end of a failed run. Its head stays as the last saved cycle left it, with the journal since then: a
 *  retry continues from there. */
async function saveFailure(execution: RunExecution, { conversation, state }: RunProgress): Promise<void> {
  const { held } = execution
  const events = conversation.events.slice(execution.savedEvents)
  const changes = checkpointChanges(held.head.id, { events, artifacts: conversation.artifacts.unsaved() })
  await held.commit(
    (head) => headAfterFailure(head, conversation, { events, seq: execution.nextSeq(), state }),
    changes,
  )
  execution.stop = "ended"
}

/** Pushes the next job while the checkpoint is written. A worker that takes it before that finds the run held and tries
 *  again later. */
function pushNextJob(execution: RunExecution): void {
  const { setup, held } = execution
  execution.nextJob = setup.push(held.head.id, held.revision)
  execution.nextJob.catch(() => undefined)
}

function endStatus(events: readonly AgentEvent[], run: string): RunHead["status"] | undefined {
  const end = events.findLast((event) => event.run === run && event.type === "run-end")
  return end?.type === "run-end" ? end.status : undefined
}
