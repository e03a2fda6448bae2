// Messages and errors for runs that this engine cannot continue.
import { internalsOf } from "../agent/agent-internals.ts"
import type { Agent } from "../core/agent.ts"
import { AgentError, ConfigError } from "../core/errors.ts"
import { heldCode } from "./backends/backend.ts"
import type { RunHead } from "./checkpoint.ts"

/** Thrown if this engine cannot continue a run that another engine, or a later version, may continue. */
export class Refusal extends ConfigError {}

export function unknownAgentMessage({ id, agent }: RunHead, agents: object): string {
  const known = Object.keys(agents).join(", ") || "none"
  return `Run ${id} is of the agent "${agent}", which this engine does not have. It has: ${known}.`
}

export function sharedRuntimeMessage(agent: string): string {
  return `The agent "${agent}" has one runtime for all its runs. Give it a factory: runtime: () => jsRuntime({ … }).`
}

export function changedAgentMessage({ id, agent }: RunHead, changed: readonly string[]): string {
  return (
    `Run ${id} does not go on: the agent "${agent}" has changed since it began: ${changed.join("; ")}. ` +
    "Go on with the agent as it was, or say allowChanged: true."
  )
}

export function changedAgentWarning(changed: readonly string[]): string {
  return `The run goes on with an agent that has changed since it began: ${changed.join("; ")}.`
}

/** Throws if an agent cannot have durable runs. */
export function checkDurableAgents(agents: Readonly<Record<string, Agent>>): void {
  for (const [name, agent] of Object.entries(agents)) {
    if (!internalsOf(agent)) {
      throw new ConfigError(`agents.${name}: only agents made by createAgent({ … }) can have durable runs.`)
    }
    if (agent.runtime) {
      throw new ConfigError(
        `agents.${name}: its runs share one runtime, which no other process has. Give it a factory: runtime: () => jsRuntime({ … }).`,
      )
    }
  }
}

/** The error for a job whose run another worker holds. The job comes again later, because that worker may be dead. */
export function heldElsewhereError(run: string): AgentError {
  return new AgentError(`Run ${run} is held by another worker.`, { code: heldCode, retryable: true })
}
