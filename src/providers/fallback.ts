import type { Agent, Run, RunResult } from "../core/agent.ts"
import {
  checkOptions,
  isEither,
  isFlag,
  isFrom,
  isFunction,
  isRecord,
  isText,
  type OptionChecks,
} from "../core/check-options.ts"
import { ConfigError, UnsupportedError } from "../core/errors.ts"
import { hiddenField } from "../core/hidden-field.ts"
import { type Prompt, type PromptPart, userMessage } from "../core/message.ts"
import { specOfAgent } from "../core/spec.ts"
import { trajectory } from "../core/trajectory.ts"
import { isAgent } from "../runtime/bindings.ts"
import type { Runtime } from "../runtime/runtime.ts"
import { type Candidate, candidatesOf } from "./candidates.ts"
import { type CliAgent, observerOf } from "./cli-agent.ts"
import { cliParts } from "./cli-parts.ts"
import { fallbackConversation } from "./fallback-conversation.ts"
import { startFallbackRun } from "./fallback-run.ts"
import { openFallbackSession } from "./fallback-session.ts"
import type { CliOptions } from "./options.ts"
import { followInFile } from "./trajectory-file.ts"

export interface FallbackOptions
  extends Pick<CliOptions, "name" | "description" | "autoWait" | "logger" | "onEvent" | "trajectoryPath"> {
  /** Whether a conversation goes on with the next agent, told what happened so far, when the one it is with reaches its limit or
   *  fails. Default false: it stays with the first that answered. */
  failover?: boolean | undefined
  /** How many characters what the next one is told may have. Default 8,000. */
  handoffChars?: number | undefined
}

/** Several agents as one: the first that is installed does the work, and where it fails on its first prompt, or its limit is
 *  reached, the next one does, which `provider-changed` tells. What the caller got wrong is never tried elsewhere. A limit is
 *  waited for only where nobody is left. Where all fail, the error is the last one, with all of them in its details. `limits` hold for
 *  each that tries. */
export function fallback(...given: [Agent, ...Agent[]] | [Agent, ...Agent[], FallbackOptions]): CliAgent {
  const all: readonly (Agent | FallbackOptions)[] = given
  const agents = all.filter(isAnAgent)
  const others = all.filter((each): each is FallbackOptions => !isAnAgent(each))
  const [first] = agents
  if (!first || others.length > 1 || (others.length === 1 && others[0] !== given.at(-1))) {
    throw new ConfigError(
      "fallback: give the agents in their order, then options: fallback(claude(), codex(), { failover: true }).",
    )
  }
  return fallbackAgent(agents, first, others[0] ?? {})
}

// Which run of which candidate a result came from, so that `from` goes on with it.
const origins = hiddenField<{ candidate: number; result: RunResult }>()

function fallbackAgent(agents: readonly Agent[], first: Agent, options: FallbackOptions): CliAgent {
  checkOptions("fallback()", options, fallbackChecks)
  const candidates = candidatesOf(agents, options.autoWait)
  const name = options.name ?? "fallback"
  const current = () => candidates.find((candidate) => candidate.isInstalled()) ?? candidates[0]
  const currentAgent = () => current()?.agent ?? first
  const place = { name, failover: options.failover ?? false, handoffChars: options.handoffChars }

  function cliOf(what: string): CliAgent {
    const found = currentAgent()
    // Who has what is behind a CLI is one.
    if (cliParts.of(found)) return found as CliAgent
    throw new UnsupportedError(`${what}: "${found.name}" is no coding CLI.`)
  }

  const agent: CliAgent = {
    name,
    description: options.description ?? first.description,
    get provider() {
      return current()?.name ?? name
    },
    get runtime() {
      return runtimeOf(current())
    },
    run(prompt, { signal, from, ...given } = {}) {
      const { own, changes } = split(options, given)
      const candidates = candidatesOf(agents, own.autoWait)
      const runs: Run[] = []
      const conversation = fallbackConversation({ messages: from?.messages })
      const origin = from && originOf(from)
      conversation.committed = origin?.candidate
      const { trajectoryPath: file } = own
      if (file !== undefined) followInFile(conversation, file, () => trajectory(conversation.events))
      return startFallbackRun({
        ...place,
        candidates,
        conversation,
        prompt: partsOf(prompt),
        changes,
        signal,
        onEvent: observerOf(own),
        async seat(candidate, runtime) {
          const goesOn = origin && candidates[origin.candidate] === candidate ? { from: origin.result } : {}
          return {
            send(parts, more) {
              const run = candidate.agent.run(parts, { ...more, ...candidate.on(runtime), ...goesOn })
              runs.push(run)
              return run
            },
          }
        },
        ended(result, inner) {
          const { committed } = conversation
          if (inner && committed !== undefined) origins.set(result, { candidate: committed, result: inner })
        },
        async dispose() {
          for (const run of runs.toReversed()) await run[Symbol.asyncDispose]()
        },
      })
    },
    async session({ signal, archive, resume, recording: _, keepPrompt, ...given } = {}) {
      if (keepPrompt) throw new ConfigError(cannotKeepPrompt)
      const { own, changes } = split(options, given)
      const seats = { ...place, candidates: candidatesOf(agents, own.autoWait), own, changes, signal }
      return await openFallbackSession(seats, { archive, resume })
    },
    describe: () => currentAgent().describe(),
    interactive: async (prompt, asked) => cliOf("interactive()").interactive(prompt, asked),
    checkHealth: async (asked) => cliOf("checkHealth()").checkHealth(asked),
    checkLimit: async (asked) => cliOf("checkLimit()").checkLimit(asked),
    async spec() {
      const specs = await Promise.all(agents.map((each) => specOfAgent(each)))
      const [spec = { tools: [], agents: [] }] = specs
      return {
        ...spec,
        name,
        ...(agent.description !== undefined && { description: agent.description }),
        fallback: specs,
      }
    },
    with(overrides) {
      const { own, changes } = split(options, overrides)
      const changed = candidates.map(({ agent, changes: of }) => agent.with(of(changes)))
      return fallbackAgent(changed, changed[0] ?? first, own)
    },
  }
  cliParts.set(agent, { options: {}, isInstalled: () => candidates.some((candidate) => candidate.isInstalled()) })
  return agent
}

const cannotKeepPrompt =
  "session: keepPrompt is not supported by a fallback, which does not store the instructions of its agents. Give the agents the instructions that they are to have."

const ownKeys = ["name", "description", "autoWait", "logger", "onEvent", "trajectoryPath"] as const

/** What of some changes is for the fallback itself, and what is for its agents. */
function split(options: FallbackOptions, { ...changes }: Partial<CliOptions>) {
  const own: FallbackOptions = { ...options }
  for (const key of ownKeys) {
    if (changes[key] !== undefined) Object.assign(own, { [key]: changes[key] })
    delete changes[key]
  }
  return { own, changes }
}

function isAnAgent(given: Agent | FallbackOptions): given is Agent {
  return isAgent(given)
}

function originOf(from: RunResult): { candidate: number; result: RunResult } {
  const origin = origins.of(from)
  if (origin) return origin
  throw new ConfigError(
    "from: this result is not of a run of this fallback in this process. Use a session, and its handle.",
  )
}

function partsOf(prompt: Prompt): PromptPart[] {
  return userMessage(prompt).parts.filter((part) => part.type !== "summary")
}

function runtimeOf(candidate: Candidate | undefined): Runtime | undefined {
  const runtime = candidate?.agent.runtime
  // Whoever can do this is one.
  return runtime && "execute" in runtime ? (runtime as Runtime) : undefined
}

const fallbackChecks: OptionChecks<FallbackOptions> = {
  name: isText,
  description: isText,
  autoWait: isEither("true, false or { maxMs, accept, clock }", isFlag, isRecord),
  logger: isRecord,
  onEvent: isFunction,
  trajectoryPath: isText,
  failover: isFlag,
  handoffChars: isFrom(2000),
}
