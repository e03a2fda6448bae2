import { readFileSync } from "node:fs"
import { ConfigError } from "../core/errors.ts"
import { importOptionalPackage } from "../core/optional-package.ts"

// Types alone: the client's package arrives when somebody connects, the server's code when somebody serves.
export type ClientPackage = typeof import("@modelcontextprotocol/client")
export type ServerPackage = typeof import("./server-packages.ts").serverPackages

export async function loadClient(): Promise<ClientPackage> {
  const name = "@modelcontextprotocol/client"
  return checkPackage<ClientPackage>(
    name,
    await importOptionalPackage(name, "the tools of MCP servers"),
    "StreamableHTTPClientTransport",
  )
}

export async function loadServer(): Promise<ServerPackage> {
  const { serverPackages } = await import("./server-packages.ts")
  return serverPackages
}

/** The version of Karst; "unknown" where a bundler has left the package's own files behind. */
export function ownVersion(): string {
  try {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    return String(version)
  } catch {
    return "unknown"
  }
}

// A package that has what its second major version has is taken to be as its types say.
function checkPackage<T>(name: string, loaded: Record<string, unknown>, sign: string): T {
  if (typeof loaded[sign] === "function") return loaded as T
  throw new ConfigError(`The package "${name}" is not what Karst knows. Install 2 or newer: npm install ${name}@2`)
}
