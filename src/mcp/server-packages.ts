import { toNodeHandler } from "@modelcontextprotocol/node"
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"

/** The part that Karst uses of the packages that serve MCP. `npm run build` puts their code into dist, so that serving
 *  needs no package beside Karst. It is loaded when a server is opened. */
export const serverPackages = {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  serveStdio,
  StdioServerTransport,
  toNodeHandler,
  WebStandardStreamableHTTPServerTransport,
}
