// What the engine, replays and the command need from agents made by createAgent, beyond the public interface: one
// symbol member.
import type { Limits, Run, SessionBudget } from "../core/agent.ts"
import type { RuntimeSource } from "../runtime/typed-runtime.ts"
import type { SessionOf } from "../sessions/session.ts"
import type { JournalForRun } from "./agent-session.ts"
import type { CodeRunOptions } from "./create-agent.ts"
import type { Outputs } from "./outputs.ts"
import type { DurableRun } from "./run/durable-run.ts"

const agentInternals = Symbol("karst.agentInternals")

export interface AgentInternals {
  /** False: it works by tool calls only, and runs no cells. */
  usesCode: boolean
  /** Where its cells run; undefined if it runs none. */
  runtime: RuntimeSource | undefined
  startDurableRun(durable: DurableRun): Run
  /** Throws if the agent cannot have a durable run with these options. */
  checkDurableOptions(options: {
    limits?: Limits | undefined
    outputs?: Outputs | undefined
    budget?: SessionBudget | undefined
  }): void
  /** Opens a session whose runs replay the outcomes in their journals. */
  openReplaySession(journal: JournalForRun): Promise<SessionOf<CodeRunOptions>>
}

/** Adds the internals to an agent. The member is not enumerable: a copy of the agent with other methods has none. */
export function withInternals<A extends object>(agent: A, internals: AgentInternals): A {
  return Object.defineProperty(agent, agentInternals, { value: internals })
}

/** Returns the internals of an agent made by createAgent; undefined for any other agent. */
export function internalsOf(agent: object | undefined): AgentInternals | undefined {
  return (agent as { [agentInternals]?: AgentInternals } | undefined)?.[agentInternals]
}
