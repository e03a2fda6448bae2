import { readFileSync } from "node:fs"
import { ConfigError } from "../core/errors.ts"
import { importPeer } from "../core/peer.ts"

// Types alone: the packages arrive when somebody connects or serves.
export type ClientPackage = typeof import("@modelcontextprotocol/client")
export type ServerPackage = typeof import("@modelcontextprotocol/server")
export type StdioPackage = typeof import("@modelcontextprotocol/server/stdio")
export type NodePackage = typeof import("@modelcontextprotocol/node")

export async function loadClient(): Promise<ClientPackage> {
  const name = "@modelcontextprotocol/client"
  return known<ClientPackage>(name, await importPeer(name, "the tools of MCP servers"), "StreamableHTTPClientTransport")
}

export async function loadServer(): Promise<ServerPackage> {
  const name = "@modelcontextprotocol/server"
  return known<ServerPackage>(name, await importPeer(name, "serving MCP"), "createMcpHandler")
}

/** After `loadServer`, which says what to install. */
export async function loadStdio(): Promise<StdioPackage> {
  const name = "@modelcontextprotocol/server/stdio"
  return known<StdioPackage>(name, await importPeer(name, "serving MCP"), "serveStdio")
}

export async function loadNode(): Promise<NodePackage> {
  const name = "@modelcontextprotocol/node"
  return known<NodePackage>(name, await importPeer(name, "serving MCP over HTTP"), "toNodeHandler")
}

/** Of Karst. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  return String(version)
}

// A package that has what its second major version has is taken to be as its types say.
function known<T>(name: string, loaded: Record<string, unknown>, sign: string): T {
  if (typeof loaded[sign] === "function") return loaded as T
  throw new ConfigError(`The package "${name}" is not what Karst knows. Install 2 or newer: npm install ${name}@2`)
}
