import { observerOf } from "../actions/hooks.ts"
import { keepJournal } from "../actions/journal.ts"
import type { Agent, Run, RunOptions, SessionOptions } from "../core/agent.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt, type UserMessage, userMessage } from "../core/message.ts"
import { type RunControl, type RunOutcome, startRun } from "../core/run.ts"
import type { RunContext } from "../core/run-context.ts"
import type { Turn } from "../core/serial-queue.ts"
import type { AgentSpec } from "../core/spec.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { ArchiveOptions } from "../sessions/archive.ts"
import type { SessionOf } from "../sessions/session.ts"
import { checkState, type StateValues } from "../tools/tool-state.ts"
import { canReplay, openSession, type SessionSeat } from "./agent-session.ts"
import { approvedInFamily, letInherit, refuseUnpriced, withInherited } from "./children.ts"
import { type AgentConfig, type AgentOptions, resolveConfig } from "./config.ts"
import { type Conversation, conversations } from "./conversation.ts"
import { canBeDurable, type Durable } from "./durable.ts"
import { continueFrom, letContinue } from "./from-result.ts"
import { runLoop } from "./loop.ts"
import { endConversation, openConversation, unlessAborted } from "./open-conversation.ts"
import { checkAgentOptions, checkOverrides, checkRunOptions, checkSessionOptions } from "./option-checks.ts"
import { checkOutputs, type Outputs, type ResultWith } from "./outputs.ts"
import { promptFor } from "./prompt-for.ts"
import { restoreConversation } from "./restore.ts"
import { brokenOutcome } from "./result.ts"
import { specOf } from "./spec.ts"
import type { Verify } from "./verify.ts"

/** What `run` and `send` of our own agents may change: any of the agent's options. */
export interface CodeRunOptions<O extends Outputs = Outputs> extends RunOptions, Partial<AgentOptions> {
  /** Variables the run must fill: it ends only when each is assigned and valid. They come back as `result.objects`. */
  outputs?: O | undefined
  /** New values for names of the runtime, before the run begins. */
  values?: Record<string, unknown> | undefined
  /** Values for the `state` of tools, set before the run begins. Other keys keep what earlier runs of the conversation
   *  left there. */
  state?: Readonly<Record<string, Json>> | undefined
  /** Checks what the run left behind; the answer is `result.verdict`. */
  verify?: Verify<ResultWith<O>> | undefined
}

export interface CodeSessionOptions extends SessionOptions, ArchiveOptions, Partial<AgentOptions> {}

/** An agent that works by writing code in a runtime. */
export interface CodeAgent extends Agent {
  readonly runtime: Runtime | undefined
  run<O extends Outputs = Outputs>(prompt: Prompt, options?: CodeRunOptions<O>): Run<ResultWith<O>>
  session(options?: CodeSessionOptions): Promise<CodeSession>
  with(overrides: Partial<AgentOptions>): CodeAgent
  spec(): Promise<AgentSpec>
}

export interface CodeSession extends SessionOf<CodeRunOptions> {
  send<O extends Outputs = Outputs>(prompt: Prompt, options?: CodeRunOptions<O>): Run<ResultWith<O>>
  followUp<O extends Outputs = Outputs>(prompt: Prompt, options?: CodeRunOptions<O>): Run<ResultWith<O>>
  fork?(): Promise<CodeSession>
}

export function createAgent(options: AgentOptions): CodeAgent {
  checkAgentOptions("createAgent()", options)
  const config = resolveConfig(options)
  const agent: CodeAgent = {
    name: config.name,
    description: options.description,
    runtime: typeof config.runtime === "object" ? config.runtime : undefined,
    run<O extends Outputs>(prompt: Prompt, overrides: CodeRunOptions<O> = {}) {
      checkRunOptions("agent.run()", overrides)
      const { from, signal, outputs, verify, values, state, ...changes } = overrides
      const used = merge(options, from ? { ...changes, messages: from.messages } : changes)
      let opened: Conversation | undefined
      const run = startAgentRun(used, prompt, {
        signal,
        outputs,
        verify,
        values,
        state,
        freshPrompt: changesPrompt(changes),
        async conversation(config, run) {
          const isOther = changes.runtime !== undefined
          const earlier = from && !isOther ? conversations.of(from) : undefined
          opened = await openConversation(config, earlier, run.signal, changes.workspace)
          if (from && !earlier) await continueFrom(opened, from, config, isOther)
          if (!earlier) opened.approved = approvedInFamily(run, options) ?? opened.approved
          return opened
        },
        async dispose() {
          if (opened) await endConversation(opened)
        },
      })
      // A run that is done has each output that `outputs` declares: that is what its loop sees to.
      return run as Run<ResultWith<O>>
    },
    async session(given = {}) {
      checkSessionOptions(given)
      const { signal, archive, resume, recording, keepPrompt, ...changes } = given
      const opening = { archive, resume, recording, keepPrompt }
      // The same sends, with the outputs typed as above.
      return (await openSession(seatOf(options, changes, signal), opening)) as CodeSession
    },
    async describe() {
      const { runtime, ownsRuntime } = await openConversation(config)
      const text = await promptFor(config, runtime)
      if (ownsRuntime) await runtime.close()
      return text
    },
    with(overrides) {
      checkOverrides(overrides)
      return createAgent(merge(options, overrides))
    },
    spec: () => specOf(config, options.description),
  }
  canBeDurable(agent, (durable) => startDurableRun(options, durable))
  canReplay(agent, (journal) => openSession(seatOf(options, {}, undefined), {}, journal))
  return agent
}

function seatOf(options: AgentOptions, changes: Partial<AgentOptions>, signal: AbortSignal | undefined): SessionSeat {
  const used = merge(options, changes)
  const config = resolveConfig(used)
  return {
    config,
    open: () => openConversation(config),
    end: endConversation,
    start(prompt, sent = {}, turn, enter) {
      checkRunOptions("session.send()", sent)
      const { signal: own, outputs, verify, values, state, ...sentChanges } = sent
      refuseInSession(sentChanges)
      return startAgentRun(merge(used, sentChanges), prompt, {
        signal: anySignal(signal, own),
        freshPrompt: changesPrompt(sentChanges),
        conversation: (_config, run) => enter(run),
        turn,
        outputs,
        verify,
        values,
        state,
      })
    },
  }
}

function startDurableRun(options: AgentOptions, durable: Durable): Run {
  const { run: id, prompt, metadata, resumed, earlier } = durable
  const { limits, outputs, values, state } = durable.options ?? {}
  const config = resolveConfig(merge(options, { limits }))
  const observer = observerOf(options.onEvent, config.hooks)
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal: durable.signal,
    firstSeq: durable.firstSeq,
    onEvent: observer,
    now: config.now,
    broken: (error) => ({ ...brokenOutcome(id, error, []), suspended: true }),
    async body(control) {
      keepJournal(control.context, durable.journal)
      letInherit(control.context, config)
      const kept = resumed ?? earlier
      const shared = kept
        ? await restoreConversation(kept, config, { keepPrompt: resumed !== undefined })
        : await openConversation(config, undefined, control.signal)
      try {
        control.useRecord(shared.record)
        shared.artifacts.readFrom(durable.readArtifact)
        await durable.check(config, shared, control.emit)
        const setup = { config, conversation: shared, prompt, metadata, outputs, values, state, durable }
        return await runLoop(control, setup)
      } finally {
        await endConversation(shared)
      }
    },
  })
}

interface RunPlace {
  signal: AbortSignal | undefined
  /** Whether this run's own options change what the system prompt says. */
  freshPrompt: boolean
  conversation(config: AgentConfig, run: RunContext): Promise<Conversation>
  /** Waits for the run's turn in its session. */
  turn?: Turn
  outputs: Outputs | undefined
  verify: Verify | undefined
  values: Record<string, unknown> | undefined
  state: Readonly<StateValues> | undefined
  dispose?: () => Promise<void>
}

function startAgentRun(options: AgentOptions, prompt: Prompt, place: RunPlace): Run {
  // A wrong option is told at once, where it was written, and not as a failed run.
  const config = resolveConfig(withInherited(options), place.freshPrompt)
  checkOutputs(place.outputs, config.usesCode)
  checkState(place.state, "state")
  refuseUnpriced(config)
  const message = userMessage(prompt)
  const id = newId("run")
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal: place.signal,
    onEvent: observerOf(options.onEvent, config.hooks),
    now: config.now,
    dispose: place.dispose,
    broken: (error) => brokenOutcome(id, error, []),
    body: (control) => agentRun(control, config, message, place),
  })
}

async function agentRun(
  control: RunControl,
  config: AgentConfig,
  prompt: UserMessage,
  place: RunPlace,
): Promise<RunOutcome> {
  let shared: Conversation
  letInherit(control.context, config)
  try {
    await unlessAborted(place.turn?.(control.signal), control.signal)
    shared = await place.conversation(config, control.context)
  } catch (error) {
    // The conversation never hears of it, whoever watches the run does.
    const { name: agent, model, metadata } = config
    const start = control.emit({ type: "run-start", agent, model: model.id, messages: [prompt], metadata })
    return brokenOutcome(control.id, error, [start])
  }
  const { outputs, verify, values, state } = place
  const setup = { config, conversation: shared, prompt, metadata: config.metadata, outputs, verify, values, state }
  const outcome = await runLoop(control, setup)
  letContinue(outcome.result, shared)
  return outcome
}

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b)
}

function merge(options: AgentOptions, overrides: Partial<AgentOptions>): AgentOptions {
  return {
    ...options,
    ...given(overrides),
    limits: { ...options.limits, ...given(overrides.limits ?? {}) },
    prompt: { ...options.prompt, ...given(overrides.prompt ?? {}) },
    metadata: { ...options.metadata, ...overrides.metadata },
  }
}

function given<T extends object>(options: T): Partial<T> {
  // The same type with fewer members: an undefined option is one that was not given.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>
}

// A session has one runtime and one conversation: a send that asks for others would be ignored.
function refuseInSession(sent: CodeRunOptions): void {
  for (const option of ["runtime", "workspace", "messages", "from"] as const) {
    if (sent[option] === undefined) continue
    throw new ConfigError(
      `session.send: \`${option}\` belongs to the session. Give it to agent.session() or agent.run().`,
    )
  }
}

function changesPrompt(overrides: Partial<AgentOptions>): boolean {
  const { instructions, prompt, skills, fence, maxOutputChars, cellTimeoutMs, transaction, typeGate } = overrides
  const said = [instructions, prompt, skills, fence, maxOutputChars, cellTimeoutMs, transaction, typeGate]
  return said.some((value) => value !== undefined)
}
