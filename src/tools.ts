// The built-in tools, for agents that put their own set together. An agent with a workspace has them without asking.
export { fileTools } from "./tools/builtin.ts"
export { askTool, finishTool } from "./tools/control.ts"
export { type AgentToolOptions, agentTool, handoffTool } from "./tools/delegate/agent.ts"
export { type DelegateOptions, delegateTools, type SubAgents } from "./tools/delegate.ts"
export { editFileTool } from "./tools/edit.ts"
export type { UrlAccess } from "./tools/image/fetch.ts"
export { type ReadImageOptions, readImageTool } from "./tools/image.ts"
export { fileInfoTool, findFilesTool, listFilesTool } from "./tools/list.ts"
export { compactMemoryTool } from "./tools/memory.ts"
export { readFileTool } from "./tools/read.ts"
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
export { todosTool } from "./tools/todos.ts"
export { writeFileTool } from "./tools/write.ts"
