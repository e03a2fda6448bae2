import type { Agent, AgentOverrides } from "../../core/agent.ts"
import { AgentError, ModelError, ProviderError, UnsupportedError } from "../../core/errors.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import { cliAgentInternals } from "../cli-agent-internals.ts"
import { environmentDefaults } from "../environment-defaults.ts"
import type { CliOptions } from "../options.ts"
import { type AutoWaitOptions, resolveAutoWait, type UsageLimit } from "../usage-limits.ts"

/** One of the agents of a fallback, in its place. */
export interface Candidate {
  readonly agent: Agent
  /** The CLI, or the name of an agent that is none. */
  readonly name: string
  isInstalled(): boolean
  /** Whether it waits for a limit to be over. */
  readonly waitsForLimits: boolean
  /** Whether it makes its runtime itself. */
  readonly ownsRuntime: boolean
  /** What of some changes is for it. */
  applicableChanges(given: Partial<CliOptions>): Partial<CliOptions>
  /** The changes by which its next run waits only for what may be waited for. */
  limitWaitOptions(accept: (limit: UsageLimit) => boolean): Partial<CliOptions>
  /** The changes by which it works on a runtime that is there, where it would make its own. */
  runtimeOptions(runtime: unknown): Partial<CliOptions>
}

export function createCandidates(
  agents: readonly Agent[],
  autoWait: boolean | AutoWaitOptions | undefined,
): Candidate[] {
  return agents.map((agent, index) => {
    const cli = cliAgentInternals.get(agent)
    const name = "provider" in agent && typeof agent.provider === "string" ? agent.provider : agent.name
    if (!cli) return createAgentCandidate(agent, name)
    const { options } = cli
    const wait = resolveAutoWait(autoWait ?? options.autoWait ?? environmentDefaults().autoWait)
    return {
      agent,
      name,
      isInstalled: cli.isInstalled,
      waitsForLimits: wait !== undefined,
      ownsRuntime: typeof options.runtime === "function",
      applicableChanges: (given) => (index === 0 ? given : withoutOtherModel(given, options)),
      limitWaitOptions: (accept) => ({
        autoWait: wait ? { ...wait, accept: (limit) => accept(limit) && wait.accept(limit) } : false,
      }),
      runtimeOptions: (runtime) => (typeof options.runtime === "function" && isRuntime(runtime) ? { runtime } : {}),
    }
  })
}

function createAgentCandidate(agent: Agent, name: string): Candidate {
  return {
    agent,
    name,
    isInstalled: () => true,
    waitsForLimits: false,
    ownsRuntime: false,
    applicableChanges: ({ instructions, limits, metadata }): AgentOverrides => ({ instructions, limits, metadata }),
    limitWaitOptions: () => ({}),
    runtimeOptions: () => ({}),
  }
}

/** Whether it was the CLI or the service that failed, so that another may do better. What the caller got wrong, and bugs, go to
 *  the caller. */
export function isFallbackReason(error: unknown): error is AgentError {
  return error instanceof ProviderError || error instanceof ModelError || error instanceof UnsupportedError
}

export interface FailedAttempt {
  name: string
  error: AgentError
}

/** The last error, with what came before it. */
export function combineFailures(failures: readonly FailedAttempt[]): AgentError {
  const last = failures.at(-1)
  if (!last) return new AgentError("No agent was tried.")
  const { error } = last
  if (failures.length === 1) return error
  const attempts = failures.map(({ name, error: { code, message } }) => ({ provider: name, code, message }))
  const before = attempts.slice(0, -1).map(({ provider, code }) => `${provider} (${code})`)
  const own = error instanceof ProviderError ? error : undefined
  return new ProviderError(`${error.message} Before it failed: ${before.join(", ")}.`, {
    code: own?.code,
    provider: last.name,
    retryable: failures.some((each) => each.error.retryable),
    retryAt: earliestRetryAt(failures),
    stderr: own?.stderr,
    details: { ...error.details, attempts },
    cause: error,
  })
}

function earliestRetryAt(failures: readonly FailedAttempt[]): number | undefined {
  const known = failures.flatMap(({ error }) =>
    error instanceof ProviderError && error.retryAt ? [error.retryAt] : [],
  )
  return known.length === 0 ? undefined : Math.min(...known)
}

// A model by its own name is that of the first alone, whether it was given or comes from the environment.
function withoutOtherModel({ model, ...given }: Partial<CliOptions>, own: CliOptions): Partial<CliOptions> {
  if (model !== undefined && !isModelName(model)) return { ...given, model }
  return own.model === undefined && isModelName(environmentDefaults().model) ? { ...given, model: "" } : given
}

function isModelName(model: string | undefined): boolean {
  return model !== undefined && !["strongest", "fast", ""].includes(model)
}

function isRuntime(value: unknown): value is Runtime {
  return typeof value === "object" && value !== null && "execute" in value
}
