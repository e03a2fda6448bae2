import type { AgentSpec } from "./agent-spec.ts"
import type { ErrorData } from "./errors.ts"
import type { AgentEvent, Metadata, Pending, Status, StopReason } from "./event.ts"
import type { Json } from "./json.ts"
import type { Message, Prompt } from "./message.ts"
import type { Trajectory } from "./trajectory.ts"
import type { Usage } from "./usage.ts"
import type { Verdict } from "./verdict.ts"

/** Anything that takes a prompt and works until it has an output: our own agent, or a coding CLI. Agents never change
 *  under you: `with` returns another. */
export interface Agent {
  name: string
  description?: string | undefined
  /** The shared runtime, when the agent was given an instance; a factory's runtimes belong to runs and sessions. */
  runtime?: LiveObjects | undefined
  /** Starts a new conversation at once. */
  run(prompt: Prompt, options?: RunOptions): Run
  /** Runs that share one conversation and one runtime. */
  session(options?: SessionOptions): Promise<Session>
  /** Exactly what the model sees before the first prompt. */
  describe(): Promise<string>
  with(overrides: AgentOverrides): Agent
  /** What it is, as JSON without secrets. */
  spec?(): Promise<AgentSpec>
}

/** The part of a runtime that its owner uses: objects in, objects out. */
export interface LiveObjects {
  update(values: Record<string, unknown>): Promise<void>
  retrieve(name: string): Promise<unknown>
  describe(): Promise<string>
}

/** What a run may use, the runs it starts included. */
export interface Limits {
  /** Model calls with their actions. Default 10. */
  cycles?: number | undefined
  /** Input and output tokens together. Default: no limit. */
  tokens?: number | undefined
  /** The same without the input that a provider read from its cache. Default: no limit. */
  uncachedTokens?: number | undefined
  /** Needs a model whose price is known. Default: no limit. */
  costUsd?: number | undefined
  /** Active time; waiting for a person does not count. Default: no limit. */
  timeMs?: number | undefined
  /** What becomes of a run when a provider does not say what a call has used: it goes on by estimates, or stops after
   *  that call. Default `continue`. */
  unknownUsage?: "continue" | "stop" | undefined
  /** Calls of tools, functions and guarded methods. One more is an error the model sees at the call; tool calls of one
   *  answer are made only if there is room for all of them. Default: no limit. */
  calls?: number | undefined
  /** The same for each name, as `tool`, `binding` or `binding.method`; without the runs it starts. */
  callsOf?: { [name: string]: number } | undefined
  /** How deep runs may nest, this one included; 1: it may start no other. Default 5. */
  depth?: number | undefined
}

/** What `with`, `run` and `session` may change; an implementation adds its own. */
export interface AgentOverrides {
  instructions?: string | undefined
  limits?: Limits | undefined
  /** Merged over the agent's and the session's into the trajectory. */
  metadata?: Metadata | undefined
  /** Sees every event, and must leave it as it is. What it throws becomes a warning, once. */
  onEvent?: ((event: AgentEvent) => unknown) | undefined
}

export interface RunOptions extends AgentOverrides {
  signal?: AbortSignal | undefined
  /** Continues the conversation of an earlier run. */
  from?: RunResult | undefined
}

export interface SessionOptions extends AgentOverrides {
  signal?: AbortSignal | undefined
}

/** Work under way. It starts at once. Awaiting it gives the result, and throws for `failed` (its error) and `aborted`;
 *  iterating it replays every event from the first (deltas merged for a late reader) and ends after `run-end`, which
 *  always comes, once. Leaving a loop only stops reading; `abort()` or `await using` stops the run. */
export interface Run<R extends RunResult = RunResult>
  extends PromiseLike<R>,
    AsyncIterable<AgentEvent>,
    AsyncDisposable {
  readonly id: string
  /** The result whatever the status; never rejects. */
  readonly settled: Promise<R>
  /** Where this run's objects live. Known from the first event on. */
  readonly runtime: LiveObjects | undefined
  catch<T = never>(onReject: (error: unknown) => T | PromiseLike<T>): Promise<R | T>
  finally(onEnd: () => void): Promise<R>
  abort(reason?: string): void
  /** Says something to the model before its next cycle. */
  steer(text: string): void
  /** Answers an `approval-requested` by its id. */
  approve(id: string, decision: Decision): void
  /** The whole call that an `approval-requested` asks about, as text that is safe to show: its event has a short line only.
   *  At most 256 K characters. Undefined when no such call waits for `approve`, or no longer. */
  pendingCall(id: string): string | undefined
}

export type Decision = "allow" | "deny" | "always"

/** How a run came to its end: the model answered, a tool ended it, a question was asked, another agent took over, a hook or
 *  guardrail stopped it, or what its status says. */
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
  /** What the agent says; for a run that did not end by itself, the last text it wrote. */
  output: string
  pending?: Pending
  /** The limit that stopped it, or `hook` or `guardrail`. */
  reason?: StopReason
  /** What the hook that stopped it said, or whoever aborted it. */
  detail?: string
  /** Files made for the user, where the agent named them. */
  files?: string[]
  completion: Completion
  cycles: number
  usage: Usage
  /** The whole conversation so far. */
  messages: Message[]
  /** The outputs that the run declared. */
  objects?: Record<string, unknown>
  /** What the tools have left in their shared `state`, by key; absent where the agent has no such state. Frozen. */
  state?: { readonly [key: string]: Json }
  /** The list of todos, as `write_todos` left it. Frozen. */
  todos?: readonly Todo[]
  /** What `verify` found. */
  verdict?: Verdict
  trajectory: Trajectory
  error?: ErrorData & { cause?: unknown }
}

/** One entry of the list that the model keeps by `write_todos`. */
export interface Todo {
  id: string
  title: string
  status: "pending" | "in_progress" | "done"
}

/** A run of a session that has not begun. */
export interface QueuedRun {
  readonly id: string
  readonly prompt: Prompt
}

export interface Session extends AsyncDisposable {
  readonly id: string
  /** A string that finds this session again. */
  readonly handle: string
  readonly directory?: string | undefined
  readonly runtime: LiveObjects | undefined
  /** The run that is under way. */
  readonly running: Run | undefined
  /** The runs that are queued, in the order in which they will run. */
  readonly pending: readonly QueuedRun[]
  /** Starts a run, or queues it behind those that were sent before. When a run ends as `waiting`, `failed` or `aborted`, the runs
   *  that are queued are held back: `continueQueue` or `clearQueue` decides about them. What is sent later goes before them. */
  send(prompt: Prompt, options?: RunOptions): Run
  /** Says something to the running model, or with the next send. */
  steer(text: string): void
  /** The same as `send`; also from within a run of the session, which it follows. */
  followUp(prompt: Prompt, options?: RunOptions): Run
  /** Lets the runs that are held back run. */
  continueQueue(): void
  /** Aborts every queued run. The run under way goes on. */
  clearQueue(): void
  fork?(): Promise<Session>
  messages(): Message[]
  trajectory(): Trajectory
  /** Writes the trajectory as JSON. */
  save(path: string): Promise<void>
  /** Aborts the queued runs, waits for the run under way, then ends the session and what it opened. Twice is fine. `await using`
   *  aborts the run under way as well. */
  close(): Promise<Trajectory>
}
