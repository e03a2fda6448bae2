// Combines several agents into one: when one fails or reaches its usage limit, the next takes over.

import type { Agent, Run, RunResult } from "../../core/agent.ts"
import { getAgentSpec } from "../../core/agent-spec.ts"
import * as check from "../../core/checks/check-options.ts"
import { ConfigError, UnsupportedError } from "../../core/errors.ts"
import { userMessage } from "../../core/message.ts"
import { trajectory } from "../../core/trajectory.ts"
import { createHiddenField } from "../../core/values/hidden-field.ts"
import { isAgent } from "../../runtime/bindings.ts"
import { isRuntime } from "../../runtime/is-runtime.ts"
import { type CliAgent, eventObserver } from "../cli-agent.ts"
import { cliAgentInternals } from "../cli-agent-internals.ts"
import type { CliOptions } from "../options.ts"
import { mirrorTrajectoryToFile } from "../trajectory-file.ts"
import { mustBeAutoWait } from "../usage-limits.ts"
import { createCandidates } from "./fallback-candidates.ts"
import { createFallbackConversation } from "./fallback-conversation.ts"
import { startFallbackRun } from "./fallback-run.ts"
import { openFallbackSession } from "./fallback-session.ts"

export interface FallbackOptions
  extends Pick<CliOptions, "name" | "description" | "autoWait" | "logger" | "onEvent" | "trajectoryPath"> {
  /** Whether a conversation moves on to the next agent, with a summary of what happened so far, when its agent reaches
   *  its usage limit or fails. Default false: it stays with the first agent that answered. */
  failover?: boolean | undefined
  /** The maximal length of that summary in characters. Default 8,000. */
  maxHandoffChars?: number | undefined
}

/** Combines several agents. The first installed agent works. If it fails on its first prompt or reaches its usage
 *  limit, the next one does, and the run emits `provider-changed`. Mistakes of the caller are not retried with another
 *  agent. The run waits for a limit only if no agent is left. If all fail, the error is the last one, with all of them
 *  in its details. `limits` apply to each agent separately. */
export function fallback(...given: [Agent, ...Agent[]] | [Agent, ...Agent[], FallbackOptions]): CliAgent {
  const all: readonly (Agent | FallbackOptions)[] = given
  const agents = all.filter(isAgentArgument)
  const others = all.filter((each): each is FallbackOptions => !isAgentArgument(each))
  const [first] = agents
  if (!first || others.length > 1 || (others.length === 1 && others[0] !== given.at(-1))) {
    throw new ConfigError(
      "fallback: give the agents in their order, then options: fallback(claude(), codex(), { failover: true }).",
    )
  }
  return fallbackAgent(agents, first, others[0] ?? {})
}

// The candidate and its own result behind each result, so that `from` can continue it.
const originOfResult = createHiddenField<{ candidate: number; result: RunResult }>()

function fallbackAgent(agents: readonly Agent[], first: Agent, options: FallbackOptions): CliAgent {
  check.checkOptions("fallback()", options, fallbackChecks)
  const candidates = createCandidates(agents, options.autoWait)
  const name = options.name ?? "fallback"
  const current = () => candidates.find((candidate) => candidate.isInstalled()) ?? candidates[0]
  const currentAgent = () => current()?.agent ?? first
  const common = { name, failover: options.failover ?? false, maxHandoffChars: options.maxHandoffChars }

  function cliOf(what: string): CliAgent {
    const found = currentAgent()
    // The cast holds: only a CLI agent has internals.
    if (cliAgentInternals.get(found)) return found as CliAgent
    throw new UnsupportedError(`${what}: "${found.name}" is no coding CLI.`)
  }

  const agent: CliAgent = {
    name,
    description: options.description ?? first.description,
    get provider() {
      return current()?.name ?? name
    },
    get runtime() {
      const runtime = current()?.agent.runtime
      return isRuntime(runtime) ? runtime : undefined
    },
    run(prompt, { signal, from, ...given } = {}) {
      const { own, changes } = splitOptions(options, given)
      const candidates = createCandidates(agents, own.autoWait)
      const runs: Run[] = []
      const conversation = createFallbackConversation({ messages: from?.messages })
      const origin = from && requireOrigin(from)
      conversation.committedIndex = origin?.candidate
      const { trajectoryPath: file } = own
      if (file !== undefined) mirrorTrajectoryToFile(conversation, file, () => trajectory(conversation.events))
      return startFallbackRun({
        ...common,
        candidates,
        conversation,
        prompt: userMessage(prompt).parts.filter((part) => part.type !== "summary"),
        changes,
        signal,
        onEvent: eventObserver(own),
        async openCandidate(candidate, runtime) {
          const continued = origin && candidates[origin.candidate] === candidate ? { from: origin.result } : {}
          return {
            send(parts, more) {
              const run = candidate.agent.run(parts, { ...more, ...candidate.runtimeOptions(runtime), ...continued })
              runs.push(run)
              return run
            },
          }
        },
        onEnded(result, candidateResult) {
          const { committedIndex } = conversation
          if (candidateResult && committedIndex !== undefined)
            originOfResult.set(result, { candidate: committedIndex, result: candidateResult })
        },
        async dispose() {
          for (const run of runs.toReversed()) await run[Symbol.asyncDispose]()
        },
      })
    },
    async session({ signal, archive, id, resume, recording: _, keepPrompt, ...given } = {}) {
      if (keepPrompt) throw new ConfigError(cannotKeepPrompt)
      const { own, changes } = splitOptions(options, given)
      const setup = { ...common, candidates: createCandidates(agents, own.autoWait), own, changes, signal }
      return await openFallbackSession(setup, { archive, id, resume })
    },
    describe: () => currentAgent().describe(),
    interactive: async (prompt, given) => cliOf("interactive()").interactive(prompt, given),
    checkHealth: async (given) => cliOf("checkHealth()").checkHealth(given),
    checkLimit: async (given) => cliOf("checkLimit()").checkLimit(given),
    async spec() {
      const specs = await Promise.all(agents.map((each) => getAgentSpec(each)))
      const [spec = { tools: [], agents: [] }] = specs
      return {
        ...spec,
        name,
        ...(agent.description !== undefined && { description: agent.description }),
        fallback: specs,
      }
    },
    with(overrides) {
      const { own, changes } = splitOptions(options, overrides)
      const changed = candidates.map(({ agent, applicableChanges }) => agent.with(applicableChanges(changes)))
      return fallbackAgent(changed, changed[0] ?? first, own)
    },
  }
  cliAgentInternals.set(agent, {
    options: {},
    isInstalled: () => candidates.some((candidate) => candidate.isInstalled()),
  })
  return agent
}

const cannotKeepPrompt =
  "session: keepPrompt is not supported by a fallback, which does not store the instructions of its agents. " +
  "Give the agents the instructions that they are to have."

const fallbackOptionKeys = ["name", "description", "autoWait", "logger", "onEvent", "trajectoryPath"] as const

/** Separates option changes for the fallback itself from those for its agents. */
function splitOptions(options: FallbackOptions, { ...changes }: Partial<CliOptions>) {
  const own: FallbackOptions = { ...options }
  for (const key of fallbackOptionKeys) {
    if (changes[key] !== undefined) Object.assign(own, { [key]: changes[key] })
    delete changes[key]
  }
  return { own, changes }
}

function isAgentArgument(given: Agent | FallbackOptions): given is Agent {
  return isAgent(given)
}

function requireOrigin(from: RunResult): { candidate: number; result: RunResult } {
  const origin = originOfResult.get(from)
  if (origin) return origin
  throw new ConfigError(
    "from: this result is not of a run of this fallback in this process. Use a session, and its handle.",
  )
}

const fallbackChecks: check.OptionChecks<FallbackOptions> = {
  name: check.mustBeText,
  description: check.mustBeText,
  autoWait: mustBeAutoWait,
  logger: check.mustBeObject,
  onEvent: check.mustBeFunction,
  trajectoryPath: check.mustBeText,
  failover: check.mustBeBoolean,
  maxHandoffChars: check.mustBeLimit(2000),
}
