// The public contract of the engine: its options and its methods.
import type { AgentResult } from "../agent/outputs.ts"
import type { Agent, Decision } from "../core/agent.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Prompt } from "../core/message.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Store } from "../stores/store.ts"
import type { Backend } from "./backends/backend.ts"
import type { ListFilter, RunInfo } from "./run-info.ts"
import type { RetryPolicy } from "./run-retries.ts"
import type { SessionQueue } from "./session-info.ts"
import type { SubmitOptions } from "./submit.ts"
import type { WatchOptions } from "./watch-run.ts"

export interface EngineOptions<Name extends string = string> {
  /** The agents that can have runs, by name. An agent with a runtime needs a factory for it. */
  agents: Readonly<Record<Name, Agent>>
  /** Where runs are stored. */
  store: Store
  /** Schedules jobs. Default: this process, which then works without a call of `work`. */
  backend?: Backend | undefined
  /** How long a worker may give no sign of life before another takes its runs. Default 30,000. */
  leaseMs?: number | undefined
  /** How long a cell is held while an approval is pending. Then it is aborted, and executed again from the journal once
   *  there is an answer. Default 30,000. */
  holdMs?: number | undefined
  /** How long one job works on a run before other jobs are taken. Default 30,000. */
  sliceMs?: number | undefined
  /** The largest snapshot of a run's live objects that is stored. Default 16 MB. */
  maxSnapshotBytes?: number | undefined
  /** The policy for a call that was started before a crash and whose outcome is unknown, unless its binding has a
   *  policy: `ask` requests an approval, `fail` throws an error in the cell, `retry` makes the call again. Default
   *  `fail`. */
  unknown?: UnknownPolicy | undefined
  /** How many runs a worker keeps in memory, with their objects, while they wait for their next job. Default 16. */
  maxWarmRuns?: number | undefined
  /** Continues runs whose agent has changed since they began. Default false. */
  allowChanged?: boolean | undefined
  /** How many workers may die while they work on a run alone, without a saved cycle, before the run is `failed` with
   *  code `poison`. Default 5. */
  maxCrashes?: number | undefined
  /** How runs that failed with a retryable error are retried. Default: after 5 s, doubling to 5 min, at most 10 times
   *  or for an hour. `{ maxRetries: 0 }`: never. */
  retry?: RetryPolicy | undefined
}

/** Executes durable runs: each is in the store before it does anything, and any process can continue it from there. */
export interface Engine<Name extends string = string> extends AsyncDisposable {
  /** Stores a run and pushes a job for it. The same key twice for one agent is the same run; with another prompt or
   *  session it is a `ConflictError`. Rejects once the engine is closed. */
  submit(agent: Name, prompt: Prompt, options?: SubmitOptions): Promise<{ id: string }>
  /** The stored events of a run, from the first or from a sequence number, then new ones, until it has ended. */
  watch(id: string, options?: WatchOptions): AsyncIterable<AgentEvent>
  /** The result of a run. Resolves when the run has ended, or waits for an answer or an approval. */
  result(id: string, options?: { signal?: AbortSignal | undefined }): Promise<AgentResult>
  /** Answers the question of a waiting run. */
  answer(id: string, text: string): Promise<void>
  /** Answers the approval of a call, by the id of the call. */
  approve(id: string, call: string, decision: Decision): Promise<void>
  /** The whole call that waits for approval, as text that is safe to show. `call` is the id in `pending` and in the
   *  `approval-requested` event, which hold a short line only. At most 256 K characters; undefined once it is
   *  answered. */
  pendingCall(id: string, call: string): Promise<string | undefined>
  /** Sends a text to the model, before its next cycle. */
  steer(id: string, text: string): Promise<void>
  /** Ends a run in whichever process it is, and resolves when it has ended. A run whose worker is gone ends after its
   *  lease. A run that has ended does not change. */
  abort(id: string, reason?: string): Promise<void>
  /** Continues a failed run from its last checkpoint: calls before the failure are not made again. Rejects if its
   *  session has a later run. */
  retry(id: string): Promise<void>
  /** One run; undefined if there is none. */
  get(id: string): Promise<RunInfo | undefined>
  /** Lists runs, all or those that match the filter. */
  list(filter?: ListFilter): AsyncIterable<RunInfo>
  /** The runs of a session that have not begun, the one that is running or waiting, and what is left of its budget. */
  queue(agent: Name, session: string): Promise<SessionQueue>
  /** Releases the runs of a session that are held back: when a run fails or is aborted, the runs queued behind it are.
   *  A run that is submitted later comes before them. */
  continueQueue(agent: Name, session: string): Promise<void>
  /** Aborts the runs of a session that have not begun. */
  clearQueue(agent: Name, session: string): Promise<void>
  /** Takes jobs until `drain`. */
  work(options?: { maxParallel?: number | undefined }): Promise<void>
  /** Takes no more jobs. Runs under way are saved at the end of their cycle, so that other workers can continue
   *  them. */
  drain(): Promise<void>
  /** Pushes a job for every run that waits for a worker or has lost its worker; returns their ids. Without `backend`,
   *  this process works from then on, also for runs that other processes submit later. */
  recover(): Promise<string[]>
  /** Deletes all records of a run that has ended or waits. In a session, only the last run can be deleted. */
  delete(id: string): Promise<void>
  /** Deletes the runs that ended so long ago and have no later run in their session; returns their ids. */
  prune(options: { olderThanMs: number }): Promise<string[]>
  /** Drains and closes the backend. The store stays open: its owner closes it. */
  close(): Promise<void>
}
