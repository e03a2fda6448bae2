// Adds the data of --data to the runtime of an agent of the user.
import { internalsOf } from "../../agent/agent-internals.ts"
import type { Agent, AgentOverrides } from "../../core/agent.ts"
import { cliAgentInternals } from "../../providers/cli-agent-internals.ts"
import { type Bindings, boundValue, toBinding } from "../../runtime/bindings.ts"
import type { Runtime } from "../../runtime/runtime.ts"
import type { RuntimeSource } from "../../runtime/typed-runtime.ts"
import { loadData } from "../load/load-data.ts"
import { UsageError } from "../usage-error.ts"

/** Returns the agent with variables for the data files. A variable of the agent with the same name gets the data as its
 *  value. Throws a usage error if the agent has no runtime. */
export async function withData(agent: Agent, paths: readonly string[]): Promise<Agent> {
  const source = internalsOf(agent)?.runtime ?? cliAgentInternals.get(agent)?.options.runtime
  if (!source) {
    throw new UsageError(
      `--data cannot be used here: the agent ${agent.name} has no runtime, so it has no variables. Give it one, such as ` +
        'runtime: "process" in the configuration.',
    )
  }
  const data = await loadData(paths)
  const runtime: RuntimeSource =
    typeof source === "function"
      ? async (context) => await addVariablesOrClose(await source(context), data)
      : await addVariables(source, data)
  // Agents with a runtime take another one.
  const changes: AgentOverrides & { runtime: RuntimeSource } = { runtime }
  return agent.with(changes)
}

async function addVariablesOrClose(runtime: Runtime, data: Bindings): Promise<Runtime> {
  try {
    return await addVariables(runtime, data)
  } catch (error) {
    await runtime.close()
    throw error
  }
}

async function addVariables(runtime: Runtime, data: Bindings): Promise<Runtime> {
  const existing = new Set((await runtime.names()).map(({ name }) => name))
  const entries = Object.entries(data)
  const known = entries
    .filter(([name]) => existing.has(name))
    .map(([name, each]) => [name, boundValue(toBinding(each))])
  await runtime.update(Object.fromEntries(known))
  await runtime.inject(Object.fromEntries(entries.filter(([name]) => !existing.has(name))))
  return runtime
}
