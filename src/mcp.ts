// karst/mcp: tools of MCP servers for agents and runtimes; tools and runtimes served to MCP clients.

export { mcpTools } from "./mcp/client/mcp-tools.ts"
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
} from "./mcp/mcp-types.ts"
export { serveMcp } from "./mcp/server/serve-mcp.ts"
export { type McpStdio, serveMcpStdio } from "./mcp/server/serve-mcp-stdio.ts"
export { type MethodOptions, methods } from "./mcp/tool-sources.ts"
