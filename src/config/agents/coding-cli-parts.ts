// The parts of the configuration that a coding CLI has: MCP servers, limits, prices of models and hooks around calls.
// What does not apply to a coding CLI is reported.
import { type Hooks, hookNames } from "../../actions/hooks.ts"
import { errorData } from "../../core/errors.ts"
import { withoutUndefined } from "../../core/object.ts"
import type { Price } from "../../core/usage.ts"
import type { McpServer } from "../../mcp/mcp-types.ts"
import type { CallHooks, CliOptions } from "../../providers/options.ts"
import type { Skill } from "../../skills.ts"
import { isModelObject } from "../config-checks.ts"
import type { Config } from "../define-config.ts"
import type { Diagnostic } from "../diagnostics.ts"
import type { LoadedConfig } from "../load-config.ts"
import { hooksOf } from "../merge-config.ts"
import { loadConfigSkills } from "./config-skills.ts"
import { discoverDataSkills } from "./discover-resources.ts"
import { describeMcpServers } from "./mcp-servers.ts"

export interface CodingCliParts {
  options: Pick<CliOptions, "mcpServers" | "hooks" | "limits" | "prices" | "tiers">
  /** What cannot be used, and what does not apply to a coding CLI. */
  diagnostics: readonly Diagnostic[]
}

/** Loads the parts for a coding CLI that no agent of the configuration defines. It starts the MCP servers itself. */
export async function loadCodingCliParts(loaded: LoadedConfig): Promise<CodingCliParts> {
  const { config } = loaded
  const diagnostics: Diagnostic[] = []
  const report = (severity: Diagnostic["severity"], key: string) => (message: string) => {
    const { file, line } = loaded.originOf(key)
    diagnostics.push({ severity, path: file ?? key, line, message })
  }
  const servers = await describeMcpServers(loaded)
  const mcpServers: Record<string, McpServer> = {}
  for (const name of Object.keys(config.mcpServers ?? {})) {
    try {
      mcpServers[name] = servers.serverOf(name)
    } catch (error) {
      report("error", `mcpServers.${name}`)(`${errorData(error).message} The coding CLI works without this server.`)
    }
  }
  const hooks = callHooks(hooksOf(config), report("warning", "hooks"))
  // Problems of skills do not matter here: no skill is used.
  const discovered = await discoverDataSkills(loaded.resourceFolders, [])
  warnAboutSkills(await loadConfigSkills(loaded, discovered, []), report("warning", "skills"))
  const { limits, tiers } = config
  return {
    options: { mcpServers, hooks, prices: pricesOf(config), ...withoutUndefined({ limits, tiers }) },
    diagnostics,
  }
}

const callHookNames = ["beforeCall", "afterCall"]

/** Hooks of the configuration apply to all agents, but a coding CLI has only those around calls. */
export function callHooks(hooks: readonly Hooks[], warn: (message: string) => void): CallHooks[] {
  return hooks.flatMap((each) => {
    const others = hookNames.filter((name) => !callHookNames.includes(name) && Reflect.get(each, name))
    if (others.length > 0) {
      const names = others.map((name) => `\`${name}\``).join(", ")
      const [subject, verb] = others.length === 1 ? ["hook", "does"] : ["hooks", "do"]
      warn(`the ${subject} ${names} of the configuration ${verb} not apply to a coding CLI`)
    }
    // Hooks may be methods of a class instance.
    const beforeCall = each.beforeCall?.bind(each)
    const afterCall = each.afterCall?.bind(each)
    return beforeCall || afterCall ? [withoutUndefined({ beforeCall, afterCall, inherited: each.inherited })] : []
  })
}

export function warnAboutSkills(skills: readonly Skill[], warn: (message: string) => void): void {
  if (skills.length === 0) return
  const names = skills.map(({ name }) => name).join(", ")
  warn(`a coding CLI does not use the skills of the configuration: ${names}. Put them where the CLI looks for skills`)
}

/** The prices in `models`, by the id of the model. */
export function pricesOf({ models = {} }: Config): Record<string, Price> {
  const priced = Object.values(models).flatMap((model) =>
    typeof model === "object" && !isModelObject(model) && "price" in model && model.price ? [model] : [],
  )
  return Object.fromEntries(priced.flatMap(({ id, price }) => (price ? [[id, price]] : [])))
}
