// The agents of a fallback as candidates, and the error if all fail.
import type { Agent, AgentOverrides } from "../../core/agent.ts"
import { AgentError, ModelError, ProviderError, UnsupportedError } from "../../core/errors.ts"
import { isRuntime } from "../../runtime/is-runtime.ts"
import { cliAgentInternals } from "../cli-agent-internals.ts"
import { environmentDefaults } from "../environment-defaults.ts"
import type { CliOptions } from "../options.ts"
import { isTier } from "../provider.ts"
import { type AutoWaitOptions, resolveAutoWait, type UsageLimit } from "../usage-limits.ts"

/** One of the agents of a fallback. */
export interface Candidate {
  readonly agent: Agent
  /** The name of the CLI, or of an agent without one. */
  readonly name: string
  isInstalled(): boolean
  /** True if it can wait until a usage limit resets. */
  readonly waitsForLimits: boolean
  /** True if it creates its own runtime. */
  readonly ownsRuntime: boolean
  /** The part of some option changes that applies to it. */
  applicableChanges(given: Partial<CliOptions>): Partial<CliOptions>
  /** Option changes that make its next run wait only for accepted limits. */
  limitWaitOptions(accept: (limit: UsageLimit) => boolean): Partial<CliOptions>
  /** Option changes that make it use an existing runtime instead of creating its own. */
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
        autoWait: wait ? { ...wait, shouldWait: (limit) => accept(limit) && wait.shouldWait(limit) } : false,
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

/** Returns true if the CLI or its service failed, so that another agent may succeed. Mistakes of the caller and bugs
 *  are reported to the caller. */
export function isFallbackReason(error: unknown): error is AgentError {
  return error instanceof ProviderError || error instanceof ModelError || error instanceof UnsupportedError
}

export interface FailedAttempt {
  name: string
  error: AgentError
}

/** Creates the error of a fallback: the last failure, with all others in its details. */
export function combineFailures(failures: readonly FailedAttempt[]): AgentError {
  const last = failures.at(-1)
  if (!last) return new AgentError("No agent was tried.")
  const { error } = last
  if (failures.length === 1) return error
  const attempts = failures.map(({ name, error: { code, message } }) => ({ provider: name, code, message }))
  const earlier = attempts.slice(0, -1).map(({ provider, code }) => `${provider} (${code})`)
  const own = error instanceof ProviderError ? error : undefined
  return new ProviderError(`${error.message} Before it failed: ${earlier.join(", ")}.`, {
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

// A model name, given or from the environment, applies only to the first candidate.
function withoutOtherModel({ model, ...given }: Partial<CliOptions>, own: CliOptions): Partial<CliOptions> {
  if (model !== undefined && !isModelName(model)) return { ...given, model }
  return own.model === undefined && isModelName(environmentDefaults().model) ? { ...given, model: "" } : given
}

function isModelName(model: string | undefined): boolean {
  return model !== undefined && model !== "" && !isTier(model)
}
