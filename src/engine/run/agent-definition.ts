// Detects whether an agent has changed since a run began.
import { createHash } from "node:crypto"
import type { AgentConfig } from "../../agent/agent-config.ts"
import type { Runtime } from "../../runtime/runtime.ts"

/** The parts of an agent on which its stored runs depend. Each name maps to a text that changes if the part does. */
export interface AgentDefinition {
  language: string
  bindings: { [name: string]: string }
  tools: { [name: string]: string }
  agents: { [name: string]: string }
}

export async function describeAgent(config: AgentConfig, runtime: Runtime): Promise<AgentDefinition> {
  const names = config.usesCode ? await runtime.names() : []
  return {
    language: config.usesCode ? runtime.language : "tools",
    bindings: Object.fromEntries(names.filter(({ injected }) => injected).map(({ name, kind }) => [name, kind])),
    tools: Object.fromEntries(config.tools.map(({ name, input }) => [name, fingerprint(input)])),
    agents: Object.fromEntries(Object.keys(config.agents ?? {}).map((name) => [name, "agent"])),
  }
}

/** Describes each difference that prevents a run from continuing. Added names do not. */
export function definitionChanges(before: AgentDefinition, now: AgentDefinition): string[] {
  return [
    ...(before.language === now.language ? [] : [`it wrote ${before.language} and now writes ${now.language}`]),
    ...changedNames("the binding", before.bindings, now.bindings, (was, is) => `was a ${was} and is now a ${is}`),
    ...changedNames("the tool", before.tools, now.tools, () => "takes another input than before"),
    ...changedNames("the agent", before.agents, now.agents, () => "is another"),
  ]
}

type Names = { [name: string]: string }

function changedNames(what: string, before: Names, now: Names, how: (was: string, is: string) => string): string[] {
  return Object.entries(before).flatMap(([name, was]) => {
    if (!Object.hasOwn(now, name)) return [`${what} "${name}" is gone`]
    const is = now[name] ?? ""
    return is === was ? [] : [`${what} "${name}" ${how(was, is)}`]
  })
}

function fingerprint(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 12)
}
