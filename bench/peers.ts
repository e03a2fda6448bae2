// Installs the frameworks that Karst is compared with.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { npm } from "../scripts/pack.ts"

/** Where the frameworks that Karst is measured against live; see package.json there for their exact versions. */
const peersFolder = join(import.meta.dirname, "peers")

/** The path of a peer's file, after installing the peers if they are missing or of other versions. */
export async function peerFile(name: string, file: string): Promise<string> {
  if (!isInstalled()) {
    process.stderr.write("installing peers into bench/peers\n")
    await npm(peersFolder, ["install", "--no-package-lock", "--prefer-offline"])
  }
  return join(peersFolder, "node_modules", name, file)
}

export async function importPeerFile(name: string, file: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(await peerFile(name, file)).href)
}

function isInstalled(): boolean {
  const { dependencies } = readJson(join(peersFolder, "package.json")) as { dependencies: Record<string, string> }
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = join(peersFolder, "node_modules", name, "package.json")
    return existsSync(manifest) && (readJson(manifest) as { version: string }).version === version
  })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"))
}
