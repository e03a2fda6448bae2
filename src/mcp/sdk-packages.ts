// Loads the MCP packages when they are first used.
import { ConfigError } from "../core/errors.ts"
import { importOptionalPackage } from "../core/optional-package.ts"

// Only types: the packages are loaded when a connection or server is opened.
export type ClientPackage = typeof import("@modelcontextprotocol/client")
export type ServerPackage = typeof import("./server-packages.ts").serverPackages

export async function loadClient(): Promise<ClientPackage> {
  const name = "@modelcontextprotocol/client"
  const loaded = await importOptionalPackage(name, "the tools of MCP servers")
  // A package with this export is version 2 or newer, so its types apply.
  if (typeof loaded.StreamableHTTPClientTransport === "function") return loaded as ClientPackage
  throw new ConfigError(`The package "${name}" is not what Karst knows. Install 2 or newer: npm install ${name}@2`)
}

export async function loadServer(): Promise<ServerPackage> {
  return (await import("./server-packages.ts")).serverPackages
}
