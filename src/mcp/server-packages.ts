// The parts of the MCP server packages that Karst uses.
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

/** `npm run build` bundles their code into dist, so that serving needs no further package. Loaded when a server is
 *  opened. */
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
