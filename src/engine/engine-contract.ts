import type { AgentResult } from "../agent/outputs.ts"
import type { Agent, Decision } from "../core/agent.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Prompt } from "../core/message.ts"
import type { UnknownPolicy } from "../runtime/bindings.ts"
import type { Store } from "../stores/store.ts"
import type { Backend } from "./backends/backend.ts"
import type { ListFilter, RunInfo } from "./run-info.ts"
import type { RetryPolicy } from "./run-retries.ts"
import type { SessionQueue } from "./session-queue.ts"
import type { SubmitOptions } from "./submit.ts"
import type { WatchOptions } from "./watch-run.ts"

export interface EngineOptions<Name extends string = string> {
  /** The agents whose runs it knows, by name. Each needs a runtime factory, or none. */
  agents: Readonly<Record<Name, Agent>>
  store: Store
  /** What schedules. Default: this process, which then works without being told to. */
  backend?: Backend | undefined
  /** How long a worker may be silent before another takes its runs. Default 30,000. */
  leaseMs?: number | undefined
  /** How long a cell is held while somebody is asked; then it is given up, and run again from the journal once there is
   *  an answer. Default 30,000. */
  holdMs?: number | undefined
  /** How long one job works on a run before it is the turn of others. Default 30,000. */
  sliceMs?: number | undefined
  /** How much of a run's live objects is kept. Default 16 MB. */
  maxSnapshotBytes?: number | undefined
  /** What becomes of a call that was begun before a crash, when nobody knows whether it took effect and its binding
   *  does not say: somebody is asked, the cell gets an error, or it is made again. Default `fail`. */
  unknown?: UnknownPolicy | undefined
  /** How many runs a worker keeps as they are, objects and all, while they wait for their next job. Default 16. */
  warmRuns?: number | undefined
  /** Goes on with runs whose agent has another shape than when they began. Default false. */
  allowChanged?: boolean | undefined
  /** How many workers may end while they work on a run alone, without a saved cycle, before it is set aside as `failed` with
   *  code `poison`. Default 5. */
  maxAttempts?: number | undefined
  /** How runs that failed with a retryable error are tried again. Default: after 5 s, doubling to 5 min, at most 10 times or
   *  for an hour. `{ attempts: 0 }`: never. */
  retry?: RetryPolicy | undefined
}

/** Runs that survive: each is in the store before it does anything, and goes on from there in whichever process. */
export interface Engine<Name extends string = string> extends AsyncDisposable {
  /** Stores a run and has it worked on. The same key twice for one agent is the same run; with another prompt or session it is
   *  a `ConflictError`. Rejects once the engine is closed. */
  submit(agent: Name, prompt: Prompt, options?: SubmitOptions): Promise<{ id: string }>
  /** The stored events of a run, from the first or from a sequence number, then those that come, until it has ended. */
  watch(id: string, options?: WatchOptions): AsyncIterable<AgentEvent>
  /** What the run came to; waits until it has ended or waits for somebody. */
  result(id: string, options?: { signal?: AbortSignal | undefined }): Promise<AgentResult>
  /** Answers the question that a run waits with. */
  answer(id: string, text: string): Promise<void>
  /** Answers a call that asked for approval, by its id. */
  approve(id: string, call: string, decision: Decision): Promise<void>
  /** The whole call that a run waits with, as text that is safe to show, by the id that `pending` and the
   *  `approval-requested` event have: these hold a short line only. At most 256 K characters; undefined once it is answered. */
  pendingCall(id: string, call: string): Promise<string | undefined>
  /** Says something to the model before its next cycle. */
  steer(id: string, text: string): Promise<void>
  /** Ends a run, wherever it is, and resolves when it has ended. A run whose worker is gone is ended after its lease. One that
   *  has ended stays as it is. */
  abort(id: string, reason?: string): Promise<void>
  /** Goes on with a failed run from its last checkpoint: what was done before the failure is not done again. Refused where a
   *  later run of its session exists. */
  retry(id: string): Promise<void>
  /** One run; undefined where there is none. */
  get(id: string): Promise<RunInfo | undefined>
  list(filter?: ListFilter): AsyncIterable<RunInfo>
  /** The runs of a session that have not begun, and the one that is under way or waits. */
  queue(agent: Name, session: string): Promise<SessionQueue>
  /** Lets the runs of a session run that are held back: when a run fails or is aborted, those queued behind it are. A run that is
   *  submitted later goes before them. */
  continueQueue(agent: Name, session: string): Promise<void>
  /** Aborts the runs of a session that have not begun. */
  clearQueue(agent: Name, session: string): Promise<void>
  /** Takes jobs until `drain`. */
  work(options?: { concurrency?: number | undefined }): Promise<void>
  /** Takes no more jobs; those under way are saved at the end of their cycle, for others to go on with. */
  drain(): Promise<void>
  /** Has every run worked on that waits for a worker or has lost its own; gives their ids. Without `backend`, this
   *  process works from then on, also for runs that other processes submit later. */
  recover(): Promise<string[]>
  /** Removes everything of a run that has ended or waits. Of a session, the last one: the next goes on from what is left. */
  delete(id: string): Promise<void>
  /** Removes the runs that ended so long ago, and no later one of their session goes on from; gives their ids. */
  prune(options: { olderThanMs: number }): Promise<string[]>
  /** Drains, and lets go of the backend. The store is its owner's. */
  close(): Promise<void>
}
