// The contracts that callers program against: Agent, Run, Session, their options and results.
import type { AgentSpec } from "./agent-spec.ts"
import type { ErrorData } from "./errors.ts"
import type { AgentEvent, Metadata, Pending, PendingApproval, Status, StopReason } from "./event.ts"
import type { Json } from "./json.ts"
import type { Message, Prompt } from "./message.ts"
import type { Trajectory } from "./trajectory.ts"
import type { Usage } from "./usage.ts"
import type { Verdict } from "./verdict.ts"

/** Takes a prompt and works until it has an output: our own agent, or a coding CLI. Agents are immutable: `with`
 *  returns a new one. */
export interface Agent {
  name: string
  description?: string | undefined
  /** The shared runtime, if the agent was given an instance. If it was given a factory, runtimes belong to runs and
   *  sessions. */
  runtime?: LiveObjects | undefined
  /** Starts a run with a new conversation immediately. */
  run(prompt: Prompt, options?: RunOptions): Run
  /** Opens a session: runs that share one conversation and one runtime. */
  session(options?: SessionOptions): Promise<Session>
  /** Returns exactly what the model sees before the first prompt. */
  describe(): Promise<string>
  /** Returns the agent with other options. */
  with(overrides: AgentOverrides): Agent
  /** Describes the agent as JSON without secrets. */
  spec?(): Promise<AgentSpec>
}

/** The part of a runtime that its owner uses: put objects in, read objects out. */
export interface LiveObjects {
  /** Replaces the values of names. */
  update(values: Record<string, unknown>): Promise<void>
  /** Returns the value of a name. */
  retrieve(name: string): Promise<unknown>
  /** Returns the declarations of all names. */
  describe(): Promise<string>
}

/** Limits of a run. They include the runs that it starts. */
export interface Limits {
  /** Number of cycles. Default 10. */
  cycles?: number | undefined
  /** Input and output tokens together. Default: no limit. */
  tokens?: number | undefined
  /** Like `tokens`, without the input that a provider read from its cache. Default: no limit. */
  uncachedTokens?: number | undefined
  /** Requires a model with a known price. Default: no limit. */
  costUsd?: number | undefined
  /** Active time; waiting for approvals and answers does not count. Default: no limit. */
  timeMs?: number | undefined
  /** If a provider does not report the usage of a call, the run continues with estimates, or stops after that call.
   *  Default `continue`. */
  unknownUsage?: "continue" | "stop" | undefined
  /** Number of calls of tools, functions and guarded methods. A call over the limit fails with an error that the
   *  model sees. Tool calls of one answer are made only if the limit allows all of them. Default: no limit. */
  calls?: number | undefined
  /** Number of calls per name: `tool`, `binding` or `binding.method`. Does not include the runs that it starts. */
  callsByName?: { [name: string]: number } | undefined
  /** How deep runs may nest, including this one. 1: it may not start other runs. Default 5. */
  depth?: number | undefined
}

/** Limits of all runs of a session together, including those of earlier processes. A run that reaches one is stopped,
 *  and so is every later run, before it asks the model. Default of each: no limit. */
export interface SessionBudget {
  /** Number of cycles. */
  cycles?: number | undefined
  /** Input and output tokens together. */
  tokens?: number | undefined
  /** Like `tokens`, without the input that a provider read from its cache. */
  uncachedTokens?: number | undefined
  /** Requires a model with a known price. */
  costUsd?: number | undefined
}

/** What `with`, `run` and `session` can override. Implementations add their own options. */
export interface AgentOverrides {
  instructions?: string | undefined
  limits?: Limits | undefined
  /** Merged over the metadata of the agent and the session into the trajectory. */
  metadata?: Metadata | undefined
  /** Receives every event and must not change it. The first error it throws becomes a warning. */
  onEvent?: ((event: AgentEvent) => unknown) | undefined
}

export interface RunOptions extends AgentOverrides {
  /** Aborts the run. */
  signal?: AbortSignal | undefined
  /** Continues the conversation of an earlier run. */
  from?: RunResult | undefined
}

export interface SessionOptions extends AgentOverrides {
  /** Aborts the runs of the session. */
  signal?: AbortSignal | undefined
}

/** A run in progress. It starts immediately. Awaiting it returns the result, and throws if the run failed or was
 *  aborted. Iterating it replays every event from the first one (late readers get deltas merged) and ends after
 *  `run-end`, which is always emitted exactly once. Leaving the loop only stops reading; `abort()` or `await using`
 *  stops the run. */
export interface Run<R extends RunResult = RunResult, L extends LiveObjects = LiveObjects>
  extends PromiseLike<R>,
    AsyncIterable<AgentEvent>,
    AsyncDisposable {
  readonly id: string
  /** The result, whatever the status. Never rejects. */
  readonly settled: Promise<R>
  /** Where this run's objects live. Set from the first event on. */
  readonly runtime: L | undefined
  /** As of a promise. */
  catch<T = never>(onReject: (error: unknown) => T | PromiseLike<T>): Promise<R | T>
  /** As of a promise. */
  finally(onEnd: () => void): Promise<R>
  /** Ends the run with status `aborted`. */
  abort(reason?: string): void
  /** Adds a message for the model before its next cycle. */
  steer(text: string): void
  /** Answers an `approval-requested` event by its id. */
  approve(id: string, decision: Decision): void
  /** The calls of this run and its child runs that wait for `approve`, oldest first. */
  pendingApprovals(): PendingApproval[]
  /** The complete call of an `approval-requested` event, as text that is safe to display (the event has only a short
   *  preview). At most 256 K characters. Undefined if no such call is waiting for approval. */
  pendingCall(id: string): string | undefined
}

export type Decision = "allow" | "deny" | "always"

/** What ended a run: an answer of the model, a tool, a question, a handoff to another agent, a limit, a hook or
 *  guardrail, an abort, or a failure. */
export interface Completion {
  by: "answer" | "tool" | "question" | "handoff" | "limit" | "hook" | "abort" | "failure"
  /** The tool that ended it. */
  tool?: string
  /** The agent that took over. */
  agent?: string
}

export interface RunResult {
  id: string
  status: Status
  /** The agent's answer. If the run did not finish by itself, the last text it wrote. */
  output: string
  pending?: Pending
  /** The limit that stopped it, or `hook` or `guardrail`. */
  reason?: StopReason
  /** The explanation of the hook that stopped the run, or the reason of the abort. */
  detail?: string
  /** The files that the tools of this run wrote through the workspace, or those that the model passed to `finish`.
   *  Files that commands of the shell or sub-agents write are not among them. */
  files?: string[]
  completion: Completion
  cycles: number
  usage: Usage
  /** The whole conversation so far. */
  messages: Message[]
  /** The outputs that the run declared, by name. */
  objects?: Record<string, unknown>
  /** The shared state of the tools, by key. Absent if the agent has no such state. Frozen. */
  state?: { readonly [key: string]: Json }
  /** The todo list as last written by `write_todos` (option `todos`). Frozen. */
  todos?: readonly Todo[]
  /** The result of `verify`. */
  verdict?: Verdict
  trajectory: Trajectory
  error?: ErrorData & { cause?: unknown }
}

/** One entry of the todo list that the model maintains with `write_todos`. */
export interface Todo {
  id: string
  title: string
  status: "pending" | "in_progress" | "done"
}

/** A run of a session that has not started yet. */
export interface QueuedRun {
  readonly id: string
  readonly prompt: Prompt
}

export interface ForkOptions {
  /** The id of an answer of the model. The fork continues from before it: with the messages up to it, and with the
   *  objects that a session with `keepSnapshots` had then. If it is the first answer of a run, the fork also lacks the
   *  prompt of that run. What the dropped part did outside of the session stays done. Default: the fork has
   *  everything. */
  before?: string | undefined
}

export interface Session extends AsyncDisposable {
  readonly id: string
  /** A string that identifies this session, to load it again later. */
  readonly handle: string
  readonly directory?: string | undefined
  readonly runtime: LiveObjects | undefined
  /** The run in progress. */
  readonly running: Run | undefined
  /** The run that began last, under way or ended; undefined before the first run of this process. A client that
   *  reconnects reads its events again. */
  readonly lastRun: Run | undefined
  /** The queued runs, in the order in which they will start. */
  readonly pending: readonly QueuedRun[]
  /** Starts a run, or queues it behind earlier ones. If a run ends as `waiting`, `failed` or `aborted`, the queued
   *  runs are held back until `continueQueue` or `clearQueue`. Runs sent after that start before the held ones. */
  send(prompt: Prompt, options?: RunOptions): Run
  /** Adds a message for the running model, or for the next run if none is running. */
  steer(text: string): void
  /** Same as `send`. Can also be called from within a run of the session; the new run starts after it. */
  followUp(prompt: Prompt, options?: RunOptions): Run
  /** Lets held runs start. */
  continueQueue(): void
  /** Aborts every queued run. The run in progress continues. */
  clearQueue(): void
  /** Returns a session that continues separately, from here or from an earlier point. This one stays as it is. */
  fork?(options?: ForkOptions): Promise<Session>
  /** The messages so far. */
  messages(): Message[]
  /** The runs and events so far. */
  trajectory(): Trajectory
  /** Writes the trajectory as JSON. */
  save(path: string): Promise<void>
  /** Aborts the queued runs, waits for the run in progress, then closes the session and everything it opened. The
   *  approval requests of that run are refused, because the wait could be endless. Can be called twice. `await using`
   *  also aborts the run in progress. */
  close(): Promise<Trajectory>
}
