export { mcpTools } from "./mcp/client.ts"
export { type MethodOptions, methods } from "./mcp/kit.ts"
export type {
  McpAddress,
  McpAuth,
  McpCall,
  McpClientOptions,
  McpCommand,
  McpEndpoint,
  McpServer,
  McpToolInfo,
  McpToolKit,
  ServeMcpOptions,
  ServeOptions,
  ToolSource,
  ToolSources,
} from "./mcp/mcp.ts"
export { serveMcp } from "./mcp/server.ts"
export { type McpStdio, serveMcpStdio } from "./mcp/stdio.ts"
