import type { Agent, Run, RunOptions, RunResult, SessionOptions } from "../core/agent.ts"
import { errorData } from "../core/errors.ts"
import type { Metadata } from "../core/event.ts"
import { newId, type Prompt } from "../core/message.ts"
import { abortError, type RunControl, type RunOutcome, startRun } from "../core/run.ts"
import { trajectory } from "../core/trajectory.ts"
import { noUsage } from "../core/usage.ts"
import { jsRuntime } from "../runtime/js.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { createSession, type SessionOf } from "../sessions/session.ts"
import { type AgentConfig, type AgentOptions, resolveConfig } from "./config.ts"
import { type Conversation, conversation } from "./conversation.ts"
import { promptFor, runLoop } from "./loop.ts"

/** What `run` and `send` of our own agents may change: any of the agent's options. */
export interface CodeRunOptions extends RunOptions, Partial<AgentOptions> {}

export interface CodeSessionOptions extends SessionOptions, Partial<AgentOptions> {}

/** An agent that works by writing code in a runtime. */
export interface CodeAgent extends Agent {
  readonly runtime: Runtime | undefined
  run(prompt: Prompt, options?: CodeRunOptions): Run
  session(options?: CodeSessionOptions): Promise<SessionOf<CodeRunOptions>>
  with(overrides: Partial<AgentOptions>): CodeAgent
}

// Which conversation a result came from, so that `from` goes on in the same runtime. A result read back from JSON is not
// here: it brings its messages into a fresh one.
const conversations = new WeakMap<RunResult, Conversation>()

export function createAgent(options: AgentOptions): CodeAgent {
  const config = resolveConfig(options)
  return {
    name: config.name,
    description: options.description,
    runtime: typeof config.runtime === "object" ? config.runtime : undefined,
    run(prompt, overrides = {}) {
      const { from, signal, ...changes } = overrides
      const used = merge(options, from ? { ...changes, messages: from.messages } : changes)
      let opened: Conversation | undefined
      return startAgentRun(used, prompt, {
        signal,
        freshPrompt: changesPrompt(changes),
        async conversation(config) {
          opened = await openConversation(config, from && conversations.get(from))
          return opened
        },
        async dispose() {
          if (opened?.ownsRuntime) await opened.runtime.close()
        },
      })
    },
    async session({ signal, ...changes } = {}) {
      const used = merge(options, changes)
      const shared = await openConversation(resolveConfig(used))
      return createSession<CodeRunOptions>({
        runtime: shared.runtime,
        start(prompt, sent = {}, turn) {
          const { from: _, signal: own, ...sentChanges } = sent
          return startAgentRun(merge(used, sentChanges), prompt, {
            signal: anySignal(signal, own),
            freshPrompt: changesPrompt(sentChanges),
            conversation: async () => shared,
            turn,
          })
        },
        messages: () => shared.messages,
        events: () => shared.events,
        async close() {
          if (shared.ownsRuntime) await shared.runtime.close()
        },
      })
    },
    async describe() {
      const { runtime, ownsRuntime } = await openConversation(config)
      const text = await promptFor(config, runtime)
      if (ownsRuntime) await runtime.close()
      return text
    },
    with: (overrides) => createAgent(merge(options, overrides)),
  }
}

interface RunPlace {
  signal: AbortSignal | undefined
  /** Whether this run's own options change what the system prompt says. */
  freshPrompt: boolean
  conversation(config: AgentConfig): Promise<Conversation>
  /** What must end before this run begins. */
  turn?: Promise<unknown>
  dispose?: () => Promise<void>
}

function startAgentRun(options: AgentOptions, prompt: Prompt, place: RunPlace): Run {
  // A wrong option is told at once, where it was written, and not as a failed run.
  const config = resolveConfig(options, place.freshPrompt)
  const id = newId("run")
  return startRun({
    id,
    signal: place.signal,
    onEvent: options.onEvent,
    now: config.now,
    dispose: place.dispose,
    broken: (error) => brokenOutcome(id, error),
    body: (control) => agentRun(control, config, prompt, place),
  })
}

async function agentRun(
  control: RunControl,
  config: AgentConfig,
  prompt: Prompt,
  place: RunPlace,
): Promise<RunOutcome> {
  await place.turn
  // Aborted while it waited its turn: the conversation never hears of it.
  if (place.turn && control.signal.aborted) throw abortError(control.signal)
  const shared = await place.conversation(config)
  const outcome = await runLoop(control, { config, conversation: shared, prompt, metadata: config.metadata })
  conversations.set(outcome.result, shared)
  return outcome
}

async function openConversation(config: AgentConfig, earlier?: Conversation): Promise<Conversation> {
  if (earlier) return conversation(earlier.runtime, earlier.ownsRuntime, earlier)
  const { runtime = () => jsRuntime() } = config
  if (typeof runtime === "object") return conversation(runtime, false)
  return conversation(await runtime(), true)
}

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b)
}

function merge(options: AgentOptions, overrides: Partial<AgentOptions>): AgentOptions {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  const metadata: Metadata = { ...options.metadata, ...overrides.metadata }
  return { ...options, ...given, limits: { ...options.limits, ...overrides.limits }, metadata }
}

function changesPrompt(overrides: Partial<AgentOptions>): boolean {
  const { instructions, prompt, fence, maxOutputChars, cellTimeoutMs } = overrides
  return [instructions, prompt, fence, maxOutputChars, cellTimeoutMs].some((value) => value !== undefined)
}

function brokenOutcome(id: string, error: unknown): RunOutcome {
  const aborted = error instanceof Error && error.name === "AbortError"
  const result: RunResult = {
    id,
    status: aborted ? "aborted" : "failed",
    output: "",
    cycles: 0,
    usage: noUsage,
    messages: [],
    trajectory: trajectory([]),
    ...(aborted ? {} : { error: { ...errorData(error), cause: error } }),
  }
  return { result, error }
}
