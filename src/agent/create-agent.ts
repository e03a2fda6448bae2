// createAgent: an agent that works by writing code or calling tools, with its runs, sessions and durable runs.
import { combineObservers } from "../actions/hooks.ts"
import { combineSignals } from "../core/abort.ts"
import type { Agent, ForkOptions, Run, RunOptions, SessionBudget, SessionOptions } from "../core/agent.ts"
import type { AgentSpec } from "../core/agent-spec.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import { newId, type Prompt, type UserMessage, userMessage } from "../core/message.ts"
import { type RunBodyResult, type RunControl, startRun } from "../core/run.ts"
import type { RunContext } from "../core/run-context.ts"
import type { WaitForStart } from "../core/run-queue.ts"
import { compactionRequestKey } from "../memory.ts"
import type { Bindings } from "../runtime/bindings.ts"
import { jsRuntime } from "../runtime/js.ts"
import { runtimeContext } from "../runtime/open-runtime.ts"
import type { RuntimeOf } from "../runtime/typed-runtime.ts"
import type { SessionOf } from "../sessions/session.ts"
import type { ArchiveOptions } from "../sessions/session-archive.ts"
import { checkInitialState } from "../tools/tool-state.ts"
import { type AgentConfig, type AgentOptions, mergeOptions, resolveConfig } from "./agent-config.ts"
import { withInternals } from "./agent-internals.ts"
import * as check from "./agent-option-checks.ts"
import { type AgentSessionDriver, openSession } from "./agent-session.ts"
import { createAgentSpec } from "./agent-to-spec.ts"
import { attachConversation, restoreFromResult } from "./conversation/continue-from-result.ts"
import { closeConversation, openConversation, rejectWhenAborted } from "./conversation/open-conversation.ts"
import { type Conversation, conversationOfResult } from "./conversation.ts"
import { checkOutputs, type Outputs, type ResultWith, type ValuesWith } from "./outputs.ts"
import { buildPrompt } from "./prompt/build-prompt.ts"
import { approvedInRunTree, refuseUnpriced, shareFilesWithChildRuns, withInheritedWorkspace } from "./run/child-runs.ts"
import { type LoopSetup, runLoop } from "./run/run-loop.ts"
import { brokenOutcome } from "./run/run-result.ts"
import { checkDurableOptions, startDurableRun } from "./run/start-durable-run.ts"
import type { Verify } from "./run/verify.ts"

/** The options of `run` and `send`: overrides of the agent's options, and options of one run. `V` are the values in the
 *  runtime. */
export interface CodeRunOptions<O extends Outputs = Outputs, V extends Bindings = Bindings>
  extends RunOptions,
    Partial<AgentOptions<V>> {
  /** Variables that the run must assign, with valid values, before it may end. `result.objects` has them. */
  outputs?: O | undefined
  /** New values for names in the runtime, set before the run begins. */
  values?: Record<string, unknown> | undefined
  /** Values for the `state` of tools, set before the run begins. Other keys retain their values from earlier runs. */
  state?: Readonly<Record<string, Json>> | undefined
  /** Shortens the conversation before the first request, as if it had reached `compactAtTokens`. Default false. */
  compact?: boolean | undefined
  /** Checks the state that the run leaves; the result is `result.verdict`. */
  verify?: Verify<ResultWith<O>, RuntimeOf<ValuesWith<V, O>>> | undefined
}

export interface CodeSessionOptions<V extends Bindings = Bindings>
  extends SessionOptions,
    ArchiveOptions,
    Partial<AgentOptions<V>> {
  /** What all runs of the session may use together. `limits` apply to each run. Default: no limit. */
  budget?: SessionBudget | undefined
  /** How many of the newest cells can be undone by `session.fork({ before })`: a snapshot of the objects is kept in
   *  memory for each. Default 0. */
  keepSnapshots?: number | undefined
}

/** A run of an agent made by createAgent: its result has the outputs `O`, its runtime the values `V` and those. */
export type CodeRun<O extends Outputs = Outputs, V extends Bindings = Bindings> = Run<
  ResultWith<O>,
  RuntimeOf<ValuesWith<V, O>>
>

/** An agent that works by writing code in a runtime. `V` are the values in the runtime: the bindings that it was made
 *  with, by name. */
export interface CodeAgent<V extends Bindings = Bindings> extends Agent {
  readonly runtime: RuntimeOf<V> | undefined
  run<O extends Outputs = Outputs, W extends Bindings = V>(
    prompt: Prompt,
    options?: CodeRunOptions<O, W>,
  ): CodeRun<O, W>
  session<W extends Bindings = V>(options?: CodeSessionOptions<W>): Promise<CodeSession<W>>
  /** Returns the agent with other options. */
  with<W extends Bindings = V>(overrides: Partial<AgentOptions<W>>): CodeAgent<W>
  spec(): Promise<AgentSpec>
}

export interface CodeSession<V extends Bindings = Bindings> extends SessionOf<CodeRunOptions> {
  readonly runtime: RuntimeOf<V>
  send<O extends Outputs = Outputs>(prompt: Prompt, options?: CodeRunOptions<O, V>): CodeRun<O, V>
  followUp<O extends Outputs = Outputs>(prompt: Prompt, options?: CodeRunOptions<O, V>): CodeRun<O, V>
  /** Returns a session that continues separately, from here or from an earlier point. */
  fork?(options?: ForkOptions): Promise<CodeSession<V>>
}

/** Creates an agent: a model, a runtime, tools and limits. Starts nothing before its first run. */
export function createAgent<V extends Bindings = Bindings>(options: AgentOptions<V>): CodeAgent<V> {
  check.checkAgentOptions("createAgent()", options)
  const config = resolveConfig(options)
  check.checkCombinations(options)
  const agent: CodeAgent<V> = {
    name: config.name,
    description: options.description,
    runtime: typeof options.runtime === "object" ? options.runtime : undefined,
    run<O extends Outputs, W extends Bindings>(prompt: Prompt, overrides: CodeRunOptions<O, W> = {}) {
      check.checkRunOptions("agent.run()", overrides)
      const { from, signal, outputs, verify, values, state, compact, ...changes } = overrides
      if (from && changes.messages)
        throw new ConfigError("messages: a run with `from` has the messages of that result. Leave one of them out.")
      const used = mergeOptions(options, from ? { ...changes, messages: from.messages } : changes)
      let opened: Conversation | undefined
      const run = startAgentRun(used, prompt, {
        signal,
        inputs: { outputs, verify, values, state },
        compact,
        changesPrompt: check.changesPrompt(changes),
        async openConversation(config, run) {
          const isOther = changes.runtime !== undefined
          const earlier = from && !isOther ? conversationOfResult.get(from) : undefined
          opened = await openConversation(config, { earlier, signal: run.signal, workspace: changes.workspace })
          if (from && !earlier) await restoreFromResult(opened, from, config, isOther)
          if (!earlier) opened.approved = approvedInRunTree(run, options) ?? opened.approved
          return opened
        },
        async dispose() {
          if (opened) await closeConversation(opened)
        },
      })
      // The loop ends a run as done only if every declared output is filled. The runtime has the values `W`: those of
      // the agent, unless the options have another runtime.
      return run as CodeRun<O, W>
    },
    async session<W extends Bindings>(overrides: CodeSessionOptions<W> = {}) {
      check.checkSessionOptions(overrides)
      const { signal, archive, id, resume, recording, keepPrompt, budget, keepSnapshots, ...changes } = overrides
      if (resume !== undefined && changes.messages)
        throw new ConfigError("messages: a resumed session has its own messages. Leave out `messages` or `resume`.")
      const opening = { archive, id, resume, recording, keepPrompt, budget, keepSnapshots }
      // The same session, with the values of its runtime and the outputs of each `send` typed.
      return (await openSession(createSessionDriver(options, changes, signal), opening)) as CodeSession<W>
    },
    async describe() {
      const { runtime, ownsRuntime } = await openConversation(config)
      const text = await buildPrompt(config, runtime)
      if (ownsRuntime) await runtime.close()
      return text
    },
    with<W extends Bindings>(overrides: Partial<AgentOptions<W>>) {
      check.checkOverrides(overrides)
      // Without another runtime, `W` is `V`.
      return createAgent(mergeOptions(options, overrides)) as CodeAgent<W>
    },
    spec: () => createAgentSpec(config, options.description),
  }
  return withInternals(agent, {
    usesCode: config.usesCode,
    runtime: config.usesCode ? (config.runtime ?? (() => jsRuntime())) : undefined,
    startDurableRun: (durable) => startDurableRun(options, durable),
    checkDurableOptions: (given) => checkDurableOptions(options, given),
    openReplaySession: (journal) => openSession(createSessionDriver(options, {}, undefined), {}, journal),
  })
}

function createSessionDriver(
  options: AgentOptions,
  changes: Partial<AgentOptions>,
  signal: AbortSignal | undefined,
): AgentSessionDriver {
  const used = mergeOptions(options, changes)
  const config = resolveConfig(used)
  return {
    agent: options,
    config,
    openConversation: (session) => openConversation(config, { session, signal }),
    runtimeContext: (session) => runtimeContext(config, { session, signal }),
    closeConversation,
    startRun(prompt, sent = {}, waitForStart, enter) {
      check.checkRunOptions("session.send()", sent)
      const { signal: own, outputs, verify, values, state, compact, ...sentChanges } = sent
      check.refuseSessionOptions(sentChanges)
      return startAgentRun(mergeOptions(used, sentChanges), prompt, {
        signal: combineSignals(signal, own),
        changesPrompt: check.changesPrompt(sentChanges),
        openConversation: (_config, run) => enter(run),
        waitForStart,
        inputs: { outputs, verify, values, state },
        compact,
      })
    },
  }
}

interface AgentRunSetup {
  signal: AbortSignal | undefined
  /** Whether the options of this run change the system prompt. */
  changesPrompt: boolean
  openConversation(config: AgentConfig, run: RunContext): Promise<Conversation>
  waitForStart?: WaitForStart
  inputs: Pick<LoopSetup, "outputs" | "verify" | "values" | "state">
  compact: boolean | undefined
  dispose?: () => Promise<void>
}

function startAgentRun(options: AgentOptions, prompt: Prompt, setup: AgentRunSetup): Run {
  // Outside of `startRun`, so that a wrong option throws at once and is not a failed run.
  const config = resolveConfig(withInheritedWorkspace(options), setup.changesPrompt)
  check.checkCombinations(options)
  checkOutputs(setup.inputs.outputs, config.usesCode)
  checkInitialState(setup.inputs.state, "state")
  refuseUnpriced(config)
  const message = userMessage(prompt)
  const id = newId("run")
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal: setup.signal,
    onEvent: combineObservers(options.onEvent, config.hooks),
    now: config.now,
    dispose: setup.dispose,
    onBodyError: (error) => brokenOutcome(id, error, []),
    body: (control) => runAgent(control, config, message, setup),
  })
}

async function runAgent(
  control: RunControl,
  config: AgentConfig,
  prompt: UserMessage,
  setup: AgentRunSetup,
): Promise<RunBodyResult> {
  let shared: Conversation
  shareFilesWithChildRuns(control.context, config)
  try {
    await rejectWhenAborted(setup.waitForStart?.(control.signal), control.signal)
    shared = await setup.openConversation(config, control.context)
  } catch (error) {
    // The run failed before it had its conversation: only readers of the run see this event.
    const { name: agent, model, metadata } = config
    const start = control.emit({ type: "run-start", agent, model: model.id, messages: [prompt], metadata })
    return brokenOutcome(control.id, error, [start])
  }
  if (setup.compact) shared.state.set(compactionRequestKey, true)
  const { metadata } = config
  const outcome = await runLoop(control, { ...setup.inputs, config, conversation: shared, prompt, metadata })
  attachConversation(outcome.result, shared)
  return outcome
}
