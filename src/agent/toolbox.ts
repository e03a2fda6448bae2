import type { ToolFilter } from "../actions/tool-policy.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { ToolSpec } from "../models/model.ts"
import type { Artifacts } from "../tools/artifacts.ts"
import type { Tool, ToolContext, ToolState } from "../tools/tool.ts"
import { memoryWorkspace } from "../workspace/memory.ts"
import type { Workspace } from "../workspace/workspace.ts"
import type { AgentConfig } from "./config.ts"

/** What the tools of one conversation share. */
export interface ToolGround {
  workspace: Workspace
  state: ToolState
  /** What is too long to show, for an agent without a runtime. */
  artifacts: Artifacts
}

/** The tools of one run. */
export interface Toolbox {
  tools: ReadonlyMap<string, Tool>
  specs: readonly ToolSpec[]
  context: Pick<ToolContext, "workspace" | "state">
}

/** The ground that the tools of a conversation stand on; its state is JSON. */
export async function openGround(
  workspace: Workspace | undefined,
  values: { [key: string]: Json },
): Promise<ToolGround> {
  const { artifacts } = await import("../tools/artifacts.ts")
  const place = workspace ?? memoryWorkspace()
  return {
    workspace: place,
    artifacts: artifacts(place),
    state: {
      get: (key) => (Object.hasOwn(values, key) ? values[key] : undefined),
      set(key, value) {
        values[key] = value
      },
    },
  }
}

/** The user's tools and those that follow from what the agent has, as far as the policy allows them. */
export async function openToolbox(config: AgentConfig, ground: ToolGround, allowed: ToolFilter): Promise<Toolbox> {
  const { builtinTools } = await import("../tools/builtin.ts")
  const { usesCode, workspace } = config
  const builtin = builtinTools({ ends: !usesCode, artifacts: usesCode ? undefined : ground.artifacts, workspace })
  const tools = new Map<string, Tool>()
  for (const tool of config.tools) {
    if (tools.has(tool.name)) throw new ConfigError(`tools: there are two with the name "${tool.name}".`)
    tools.set(tool.name, tool)
  }
  // A tool of the user's with the name of a built-in one takes its place.
  for (const tool of builtin) if (!tools.has(tool.name)) tools.set(tool.name, tool)
  for (const tool of tools.values()) if (!allowed(tool)) tools.delete(tool.name)
  const specs = [...tools.values()].map(({ name, description, input }) => ({ name, description, input }))
  return { tools, specs, context: { workspace: ground.workspace, state: ground.state } }
}
