import type { Agent, Run, RunOptions, RunResult, SessionOptions } from "../core/agent.ts"
import type { AgentSpec } from "../core/agent-spec.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { newId, type Prompt, userMessage } from "../core/message.ts"
import { startRun } from "../core/run.ts"
import { trajectory } from "../core/trajectory.ts"
import type { Runtime } from "../runtime/runtime.ts"
import type { SessionOf } from "../sessions/session.ts"
import type { ArchiveOptions } from "../sessions/session-archive.ts"
import { cliAgentInternals } from "./cli-agent-internals.ts"
import { type CliConversation, createCliConversation } from "./cli-conversation.ts"
import { type CliRunSetup, runCli, unstartedOutcome } from "./cli-run.ts"
import { type CliSessionDriver, openCliSession } from "./cli-session.ts"
import { findProgram } from "./find-program.ts"
import type { HealthOptions, ProviderHealth } from "./health.ts"
import { createEventLogger } from "./logger.ts"
import { type CliConfig, type CliOptions, mergeOptions, resolveOptions } from "./options.ts"
import type { Provider } from "./provider.ts"
import type { InteractiveOptions, InteractiveResult } from "./terminal/interactive.ts"
import { mirrorTrajectoryToFile } from "./trajectory-file.ts"
import type { UsageLimit } from "./usage-limits.ts"

/** What `run` and `send` of a coding CLI may change: any of the agent's options. */
export interface CliRunOptions extends RunOptions, Partial<CliOptions> {}

export interface CliSessionOptions extends SessionOptions, ArchiveOptions, Partial<CliOptions> {}

/** A coding CLI as an agent. */
export interface CliAgent extends Agent {
  /** The CLI behind it. */
  readonly provider: string
  readonly runtime: Runtime | undefined
  run(prompt: Prompt, options?: CliRunOptions): Run
  session(options?: CliSessionOptions): Promise<CliSession>
  with(overrides: Partial<CliOptions>): CliAgent
  /** Starts the CLI itself in the terminal of this process, for a person to work with, and resolves when it has ended. The tools and
   *  the runtime are served to it meanwhile. Whatever happens, the terminal is as before then. */
  interactive(prompt?: string, options?: InteractiveOptions): Promise<InteractiveResult>
  /** Whether it is installed, in which version, and signed in; with `live`, whether it answers. */
  checkHealth(options?: HealthOptions): Promise<ProviderHealth>
  /** The limit of the account, found out by asking the CLI something; undefined where there is none. */
  checkLimit(options?: Omit<HealthOptions, "live">): Promise<Partial<UsageLimit> | undefined>
  /** What it is, as JSON without secrets. */
  spec(): Promise<AgentSpec>
}

export type CliSession = SessionOf<CliRunOptions>

// Which conversation a result came from, so that `from` goes on with it.
const conversationOfResult = new WeakMap<RunResult, CliConversation>()

export function cliAgent(provider: Provider, options: CliOptions): CliAgent {
  const config = resolveOptions(provider, options)
  const agent: CliAgent = {
    name: config.name,
    description: options.description,
    provider: provider.name,
    runtime: typeof config.runtime === "object" ? config.runtime : undefined,
    run(prompt, { signal, from, ...changes } = {}) {
      const own = resolveOptions(provider, mergeOptions(options, changes))
      let opening: Promise<CliConversation> | undefined
      const end = async () => await (await opening?.catch(() => undefined))?.close()
      const place: CliRunSetup = {
        provider,
        config: own,
        prompt: userMessage(prompt),
        async openConversation() {
          opening = continueConversation(provider, own, from)
          const shared = await opening
          const { trajectoryPath: file } = own
          if (file !== undefined) mirrorTrajectoryToFile(shared, file, () => trajectory(shared.events))
          return shared
        },
        // It may come too late.
        onAbandoned: () => void end(),
        async onEnded(result, shared) {
          conversationOfResult.set(result, shared)
          // Nothing is left listening; a run that goes on from this one opens it again.
          await shared.closeBetweenRuns()
        },
      }
      return startCliRun(place, signal, end)
    },
    async session({ signal, archive, resume, recording, keepPrompt, ...changes } = {}) {
      const used = mergeOptions(options, changes)
      return await openCliSession(createSessionDriver(provider, used, signal), {
        archive,
        resume,
        recording,
        keepPrompt,
      })
    },
    async describe() {
      const runtime = typeof config.runtime === "function" ? await config.runtime() : config.runtime
      const declarations = await runtime?.describe()
      if (typeof config.runtime === "function") await runtime?.close()
      return [config.settings.instructions, declarations].filter(Boolean).join("\n\n")
    },
    with: (overrides) => cliAgent(provider, mergeOptions(options, overrides)),
    async interactive(prompt, { signal, captureBytes, selectProvider, resume, ...changes } = {}) {
      // It knows every CLI, and they know this file.
      const { runInteractive: interactive } = await import("./terminal/interactive.ts")
      const used = mergeOptions(options, changes)
      return await interactive(provider, used, prompt, { signal, captureBytes, selectProvider, resume })
    },
    checkHealth: async (asked) => (await import("./health.ts")).checkProviderHealth(provider, options, asked),
    checkLimit: async (asked) => (await import("./health.ts")).probeUsageLimit(provider, options, asked),
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
    start(prompt, sent = {}, place) {
      const { signal: own, from, ...changes } = sent
      const wrong = fixed.find((key) => changes[key] !== undefined)
      if (wrong !== undefined || from) {
        throw new ConfigError(
          `session.send: ${wrong ?? "from"} cannot change within a session. Give it to agent.session().`,
        )
      }
      const config = resolveOptions(provider, mergeOptions(place.options, changes))
      const signals = [signal, own].filter((each) => each !== undefined)
      const either = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
      const { turn, conversation } = place
      return startCliRun(
        { provider, config, prompt: userMessage(prompt), waitForTurn: turn, openConversation: conversation },
        either,
      )
    },
  }
}

function startCliRun(place: CliRunSetup, signal: AbortSignal | undefined, dispose?: () => Promise<void>): Run {
  const { config } = place
  const id = newId("run")
  return startRun({
    id,
    agent: config.name,
    depth: config.limits.depth,
    signal,
    onEvent: eventObserver(config),
    dispose,
    onBodyError: (error) => unstartedOutcome(id, error, []),
    body: (control) => runCli(control, place),
  })
}

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
): Promise<CliConversation> {
  if (!from) return await createCliConversation(provider, config)
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
