// Finds the mistakes of a configuration that reading its files does not show: unknown names of models, agents, MCP
// servers and prompts, and resources that cannot be used.
import { errorData } from "../../core/errors.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import { loadRegistry } from "./load-agents.ts"
import { findModel } from "./named-models.ts"

/** Starts no MCP server and no agent. `builtIn` is the name of the agent that commands have without a configuration.
 *  `path` of a diagnostic is empty if its message names the place. */
export async function configDiagnostics(loaded: LoadedConfig, builtIn: string): Promise<Diagnostic[]> {
  const problems: Diagnostic[] = []
  const report = (error: unknown) => problems.push({ severity: "error", path: "", message: errorData(error).message })
  const { model } = loaded.config
  try {
    // The environment may name a tier of coding CLIs, which is no model of agents.
    if (model !== undefined && loaded.originOf("model").source !== "environment")
      findModel(undefined, loaded, "`model`")
  } catch (error) {
    report(error)
  }
  try {
    await using registry = await loadRegistry({ config: loaded }, { connects: false, builtIn })
    const known = new Set(problems.map(({ message }) => message))
    problems.push(...registry.diagnostics().filter(({ message }) => !known.has(message)))
  } catch (error) {
    report(error)
  }
  return problems
}
