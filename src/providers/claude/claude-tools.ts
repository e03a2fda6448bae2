import { type ToolGroup, type TurnSettings, toolGroups } from "../provider.ts"

// The built-in tools of Claude Code by what they do; those of a group are granted or refused together. What is not here is
// never offered to the model.
const toolsOfGroup: Record<ToolGroup, readonly string[]> = {
  read: ["Read", "Glob", "Grep"],
  write: ["Write", "Edit", "NotebookEdit"],
  exec: ["Bash", "TaskOutput", "TaskStop"],
  web: ["WebFetch", "WebSearch"],
  parallel: ["Task", "TaskOutput", "TaskStop"],
  interaction: ["AskUserQuestion"],
}

// Its own notes and skills touch nothing.
const alwaysGranted = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "Skill"]

// It may add these by itself, to find and wait for the tools of its servers.
const mcpHelperTools = ["ToolSearch", "ListMcpResourcesTool", "ReadMcpResourceTool", "WaitForMcpServers"]

// Without these it is not the CLI that we know. Others may be absent: there is no search without Anthropic's own service.
const essentialTools = ["Read", "Write", "Edit", "Bash", "WebFetch", "Task"]

export function claudeToolNames(groups: Iterable<ToolGroup>): string[] {
  return [...new Set([...[...groups].flatMap((group) => toolsOfGroup[group]), ...alwaysGranted])]
}

/** How the tools that the CLI says it has differ from those it was told to have: names drift from version to version. */
export interface ToolDrift {
  /** Why what is allowed cannot be kept. */
  problem?: string | undefined
  /** What is allowed and not there. */
  missing: readonly string[]
}

export function findToolDrift(listed: readonly string[], { allow }: Pick<TurnSettings, "allow">): ToolDrift {
  const wanted = claudeToolNames(allow)
  const own = listed.filter((name) => !name.startsWith("mcp__"))
  const extra = own.filter((name) => !wanted.includes(name) && !mcpHelperTools.includes(name))
  // Only earlier versions have TaskOutput.
  const optional = [...alwaysGranted, ...toolsOfGroup.interaction, "TaskOutput"]
  const missing = wanted.filter((name) => !own.includes(name) && !optional.includes(name))
  const unknown = missing.filter((name) => essentialTools.includes(name))
  if (extra.length > 0) return { missing, problem: `it has tools that were not granted: ${extra.join(", ")}` }
  return unknown.length > 0 ? { missing, problem: `it does not know the tools ${unknown.join(", ")}` } : { missing }
}

/** The flags that grant what is allowed and refuse the rest. */
export function permissionFlags({ allow, permissions, servers, userServers }: TurnSettings): string[] {
  const offered = ["--tools", claudeToolNames(allow).join(",")]
  if (permissions === "bypass") return [...offered, "--dangerously-skip-permissions"]
  const granted = permissions === "ask" ? [...allow].filter((group) => group === "read") : allow
  // A server's name grants all its tools.
  const names = [
    ...claudeToolNames(granted),
    ...[...servers.map(({ name }) => name), ...userServers].map((name) => `mcp__${name}`),
  ]
  const mode = permissions === "ask" ? ["--permission-prompt-tool", "stdio"] : ["--permission-mode", "dontAsk"]
  return [...offered, "--allowedTools", names.join(","), ...mode]
}

/** The same where a person sits before it, whom it asks about what is neither granted nor refused. */
export function terminalPermissionFlags(settings: TurnSettings): string[] {
  const { allow, permissions, servers, userServers } = settings
  const isRestricted = toolGroups.some((group) => !allow.has(group))
  const offered = isRestricted ? ["--tools", claudeToolNames(allow).join(",")] : []
  if (permissions === "bypass") return [...offered, "--dangerously-skip-permissions"]
  const granted = permissions === "ask" ? [...allow].filter((group) => group === "read") : allow
  const names = [
    ...claudeToolNames(granted),
    ...[...servers.map(({ name }) => name), ...userServers].map((name) => `mcp__${name}`),
  ]
  // Whatever mode the user's own settings begin with.
  const mode = permissions === "ask" ? ["--permission-mode", "default"] : []
  return [...offered, ...mode, "--allowedTools", names.join(",")]
}
