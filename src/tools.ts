// karst/tools: the built-in tools, for agents with their own set of tools. An agent with a workspace has them by
// default.
export { fileTools } from "./tools/builtin.ts"
export { compactMemoryTool } from "./tools/compact-memory.ts"
export { type AgentToolOptions, agentTool, handoffTool } from "./tools/delegate/agent-tool.ts"
export { type DelegateOptions, delegateTools, type SubAgents } from "./tools/delegate.ts"
export { editFileTool } from "./tools/files/edit-file.ts"
export { fileInfoTool, findFilesTool, listFilesTool } from "./tools/files/list-files.ts"
export { readFileTool } from "./tools/files/read-file.ts"
export { writeFileTool } from "./tools/files/write-file.ts"
export { askTool, finishTool } from "./tools/finish-and-ask.ts"
export type { UrlAccess } from "./tools/read-image/fetch-image.ts"
export { type ReadImageOptions, readImageTool } from "./tools/read-image.ts"
export { type SearchOptions, searchFilesTool } from "./tools/search.ts"
export { type Commands, type CommandsOptions, commands } from "./tools/shell/commands.ts"
export {
  checkCommandTool,
  type ShellOptions,
  type ShellToolOptions,
  type ShellTools,
  shellTool,
  shellTools,
} from "./tools/shell.ts"
export { todosTool } from "./tools/write-todos.ts"
