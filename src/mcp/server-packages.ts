// What Karst uses of the packages that serve MCP. `npm run build` puts their code into dist, so that serving needs no
// package beside Karst. It is loaded when a server is opened: see packages.ts.

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
