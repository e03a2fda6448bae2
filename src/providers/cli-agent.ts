// Turns a provider and options into an agent: runs, sessions, the interactive mode and health checks.
import { combineSignals } from "../core/abort.ts"
import type { Agent, Run, RunOptions, RunResult, SessionOptions } from "../core/agent.ts"
import type { AgentSpec } from "../core/agent-spec.ts"
import { checkOptions } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import { startRun } from "../core/run.ts"
import { trajectory } from "../core/trajectory.ts"
import { createHiddenField } from "../core/values/hidden-field.ts"
import { openRuntime, runtimeContext } from "../runtime/open-runtime.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { RuntimeContext } from "../runtime/typed-runtime.ts"
import type { SessionOf } from "../sessions/session.ts"
import type { ArchiveOptions } from "../sessions/session-archive.ts"
import { cliAgentInternals } from "./cli-agent-internals.ts"
import { type CliConversation, createCliConversation } from "./cli-conversation.ts"
import { type CliRunSetup, runCli, unstartedOutcome } from "./cli-run.ts"
import { type CliSessionDriver, openCliSession } from "./cli-session.ts"
import { findProgram } from "./find-program.ts"
import type { HealthOptions, ProviderHealth } from "./health.ts"
import { createEventLogger } from "./logger.ts"
import { cliSessionChecks } from "./option-checks.ts"
import { type CliConfig, type CliOptions, mergeOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import type { InteractiveOptions, InteractiveResult } from "./terminal/interactive.ts"
import { mirrorTrajectoryToFile } from "./trajectory-file.ts"
import type { UsageLimit } from "./usage-limits.ts"

/** `run` and `send` of a coding CLI may override any option of the agent. */
export interface CliRunOptions extends RunOptions, Partial<CliOptions> {}

export interface CliSessionOptions extends SessionOptions, ArchiveOptions, Partial<CliOptions> {}

/** An agent whose model and tools are those of a coding CLI. */
export interface CliAgent extends Agent {
  /** The name of the CLI. */
  readonly provider: string
  readonly runtime: Runtime | undefined
  run(prompt: Prompt, options?: CliRunOptions): Run
  session(options?: CliSessionOptions): Promise<CliSession>
  /** Returns the agent with other options. */
  with(overrides: Partial<CliOptions>): CliAgent
  /** Starts the CLI in the terminal of this process, for a person to work with, and resolves when it has exited. The
   *  agent's tools and runtime are served to it. The terminal is always restored. */
  interactive(prompt?: string, options?: InteractiveOptions): Promise<InteractiveResult>
  /** Reports whether it is installed, in which version, and signed in; with `live`, whether it answers. */
  checkHealth(options?: HealthOptions): Promise<ProviderHealth>
  /** The usage limit of the account, found by sending the CLI a short prompt; undefined if there is none. */
  checkLimit(options?: Omit<HealthOptions, "live">): Promise<Partial<UsageLimit> | undefined>
  /** A description as JSON without secrets. */
  spec(): Promise<AgentSpec>
}

export type CliSession = SessionOf<CliRunOptions>

// The conversation of each result, so that `from` can continue it.
const conversationOfResult = createHiddenField<CliConversation>()

export function cliAgent(provider: Provider, options: CliOptions): CliAgent {
  const config = resolveOptions(provider, options)
  const agent: CliAgent = {
    name: config.name,
    description: options.description,
    provider: provider.name,
    runtime: typeof config.runtime === "object" ? config.runtime : undefined,
    run(prompt, { signal, from, ...changes } = {}) {
      const config = resolveOptions(provider, mergeOptions(options, changes))
      let opening: Promise<CliConversation> | undefined
      const end = async () => await (await opening?.catch(() => undefined))?.close()
      const setup: CliRunSetup = {
        provider,
        config,
        prompt: userMessage(prompt),
        async openConversation(signal) {
          opening = continueConversation(provider, config, from, runtimeContext(config, { signal }))
          const conversation = await opening
          const { trajectoryPath: file } = config
          if (file !== undefined) mirrorTrajectoryToFile(conversation, file, () => trajectory(conversation.events))
          return conversation
        },
        // The conversation may open after the run was aborted.
        onAbandoned: () => void end(),
        async onEnded(result, conversation) {
          conversationOfResult.set(result, conversation)
          // Stops the MCP server and any process; a run that continues this one starts them again.
          await conversation.closeBetweenRuns()
        },
      }
      return startCliRun(setup, signal, end)
    },
    async session(given = {}) {
      checkOptions<object>(`${provider.name}().session()`, given, cliSessionChecks)
      const { signal, archive, resume, recording, keepPrompt, ...changes } = given
      const driver = createSessionDriver(provider, mergeOptions(options, changes), signal)
      return await openCliSession(driver, { archive, resume, recording, keepPrompt })
    },
    async describe() {
      const { runtime, ownsRuntime } = config.runtime ? await openRuntime(config.runtime, runtimeContext(config)) : {}
      const declarations = await runtime?.describe()
      if (ownsRuntime) await runtime?.close()
      return [config.settings.instructions, declarations].filter(Boolean).join("\n\n")
    },
    with: (overrides) => cliAgent(provider, mergeOptions(options, overrides)),
    async interactive(prompt, { signal, maxCaptureBytes, selectProvider, resume, ...changes } = {}) {
      // Imported late: the menu there imports all providers, which import this file.
      const { runInteractive } = await import("./terminal/interactive.ts")
      const choices = { signal, maxCaptureBytes, selectProvider, resume }
      return await runInteractive(provider, mergeOptions(options, changes), prompt, choices)
    },
    checkHealth: async (health) => (await import("./health.ts")).checkProviderHealth(provider, options, health),
    checkLimit: async (health) => (await import("./health.ts")).probeUsageLimit(provider, options, health),
    spec: async () => (await import("./cli-agent-spec.ts")).cliAgentSpec(provider, options),
  }
  const { program } = options
  cliAgentInternals.set(agent, {
    options,
    isInstalled: () => findProgram(provider, { program, env: config.settings.env }) !== undefined,
  })
  return agent
}

function createSessionDriver(
  provider: Provider,
  options: CliOptions,
  signal: AbortSignal | undefined,
): CliSessionDriver {
  const cells = ["cellTimeoutMs", "typeGate", "transaction"] as const
  const fixed = ["cwd", "runtime", "tools", "mcpServers", "name", "trajectoryPath", ...cells] as const
  return {
    provider,
    options,
    signal,
    start(prompt, sent = {}, { options: sessionOptions, waitForStart, conversation }) {
      const { signal: own, from, ...changes } = sent
      const wrong = fixed.find((key) => changes[key] !== undefined)
      if (wrong !== undefined || from) {
        throw new ConfigError(
          `session.send: ${wrong ?? "from"} cannot change within a session. Give it to agent.session().`,
        )
      }
      const config = resolveOptions(provider, mergeOptions(sessionOptions, changes))
      const setup = { provider, config, prompt: userMessage(prompt), waitForStart, openConversation: conversation }
      return startCliRun(setup, combineSignals(signal, own))
    },
  }
}

function startCliRun(setup: CliRunSetup, signal: AbortSignal | undefined, dispose?: () => Promise<void>): Run {
  const { config } = setup
  const id = newId("run")
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal,
    onEvent: eventObserver(config),
    dispose,
    onBodyError: (error) => unstartedOutcome(id, error, []),
    body: (control) => runCli(control, setup),
  })
}

/** The listener of a run's events: writes to the logger, then calls `onEvent`. */
export function eventObserver({
  onEvent,
  logger,
}: Pick<CliOptions, "onEvent" | "logger">): ((event: AgentEvent) => unknown) | undefined {
  if (!logger) return onEvent
  const log = createEventLogger(logger)
  return (event) => {
    log(event)
    return onEvent?.(event)
  }
}

async function continueConversation(
  provider: Provider,
  config: CliConfig,
  from: RunResult | undefined,
  context: RuntimeContext,
): Promise<CliConversation> {
  if (!from) return await createCliConversation(provider, config, { context })
  const earlier = conversationOfResult.get(from)
  const key = earlier?.session.key
  if (!earlier || key === undefined || earlier.provider !== provider.name) {
    throw new ConfigError(
      "from: this result is not of a run of this CLI in this process, so the CLI cannot go on with it. Use a session, and its handle.",
    )
  }
  const { approved, system, runtime } = earlier
  return await createCliConversation(provider, config, { key, messages: from.messages, approved, system, runtime })
}
