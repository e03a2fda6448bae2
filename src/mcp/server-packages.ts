// The parts of the MCP server packages that Karst uses. `npm run build` bundles their code into dist, so that serving
// needs no further package. Loaded when a server is opened.
export { toNodeHandler } from "@modelcontextprotocol/node"
export {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
export { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
