// Maps tool groups to the tools of Claude Code, and checks the tools that the CLI reports.
import { grantedGroups, type ToolGroup, type TurnSettings, toolGroups } from "../provider.ts"

// The built-in tools of each group. Other tools are never offered to the model.
const toolsOfGroup: Record<ToolGroup, readonly string[]> = {
  read: ["Read", "Glob", "Grep"],
  write: ["Write", "Edit", "NotebookEdit"],
  exec: ["Bash", "TaskOutput", "TaskStop"],
  web: ["WebFetch", "WebSearch"],
  parallel: ["Task", "TaskOutput", "TaskStop"],
  interaction: ["AskUserQuestion"],
}

// Task lists and skills have no effects outside of the CLI.
const alwaysGranted = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "Skill"]

// The CLI adds these itself, to find and wait for MCP tools.
const mcpHelperTools = ["ToolSearch", "ListMcpResourcesTool", "ReadMcpResourceTool", "WaitForMcpServers"]

// The known versions have all of these. Others may be missing: web search needs Anthropic's own service.
const essentialTools = ["Read", "Write", "Edit", "Bash", "WebFetch", "Task"]

export function claudeToolNames(groups: Iterable<ToolGroup>): string[] {
  return [...new Set([...[...groups].flatMap((group) => toolsOfGroup[group]), ...alwaysGranted])]
}

/** How the tools that the CLI reports differ from those it was given: names change between versions. */
export interface ToolDrift {
  /** Why `allow` cannot be enforced. */
  problem?: string | undefined
  /** Allowed tools that the CLI does not have. */
  missing: readonly string[]
}

export function findToolDrift(listed: readonly string[], { allow }: Pick<TurnSettings, "allow">): ToolDrift {
  const wanted = claudeToolNames(allow)
  const own = listed.filter((name) => !name.startsWith("mcp__"))
  const extra = own.filter((name) => !wanted.includes(name) && !mcpHelperTools.includes(name))
  // Only older versions have TaskOutput.
  const optional = [...alwaysGranted, ...toolsOfGroup.interaction, "TaskOutput"]
  const missing = wanted.filter((name) => !own.includes(name) && !optional.includes(name))
  const unknown = missing.filter((name) => essentialTools.includes(name))
  if (extra.length > 0) return { missing, problem: `it has tools that were not granted: ${extra.join(", ")}` }
  return unknown.length > 0 ? { missing, problem: `it does not know the tools ${unknown.join(", ")}` } : { missing }
}

/** The flags that grant the allowed groups and refuse everything else. */
export function permissionFlags(settings: TurnSettings): string[] {
  const offered = ["--tools", claudeToolNames(settings.allow).join(",")]
  if (settings.permissions === "bypass") return [...offered, "--dangerously-skip-permissions"]
  const isAsking = settings.permissions === "ask"
  const mode = isAsking ? ["--permission-prompt-tool", "stdio"] : ["--permission-mode", "dontAsk"]
  return [...offered, ...grantFlags(settings), ...mode]
}

/** The permission flags for a terminal, where the CLI asks the person about everything else. */
export function terminalPermissionFlags(settings: TurnSettings): string[] {
  const { allow, permissions } = settings
  const isRestricted = toolGroups.some((group) => !allow.has(group))
  const offered = isRestricted ? ["--tools", claudeToolNames(allow).join(",")] : []
  if (permissions === "bypass") return [...offered, "--dangerously-skip-permissions"]
  // Overrides the mode in the user's settings.
  const mode = permissions === "ask" ? ["--permission-mode", "default"] : []
  return [...offered, ...mode, ...grantFlags(settings)]
}

function grantFlags(settings: TurnSettings): string[] {
  const servers = [...settings.servers.map(({ name }) => name), ...settings.userServers]
  // The name of a server grants all its tools.
  const names = [...claudeToolNames(grantedGroups(settings)), ...servers.map((name) => `mcp__${name}`)]
  return ["--allowedTools", names.join(",")]
}
