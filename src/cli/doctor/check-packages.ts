// Checks of the optional packages that Karst uses if they are installed, and of Karst itself.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { attempt } from "../../core/attempt.ts"
import { errorData } from "../../core/errors.ts"
import { importOptionalPackage, packageFolders } from "../../core/optional-package.ts"
import type { Check } from "./check.ts"

interface Manifest {
  version?: string
  peerDependencies?: Record<string, string>
}

const ownManifest = fileURLToPath(new URL("../../../package.json", import.meta.url))

/** What each optional package is for. */
const purposes: Record<string, string> = {
  "@agentclientprotocol/sdk": "coding CLIs over ACP",
  "@ai-sdk/anthropic": "models anthropic/…",
  "@ai-sdk/google": "models google/…",
  "@ai-sdk/openai": "models openai/…",
  "@modelcontextprotocol/client": "tools of MCP servers",
  "@opentelemetry/api": "traces",
  aws4fetch: "files in S3",
  bullmq: "queues in Redis",
  ioredis: "stores in Redis",
  "node-pty": "coding CLIs in a terminal",
  typescript: "the type gate",
  zeromq: "the Python runtime",
}

// Karst installs beside an older TypeScript, but cannot use it.
const neededRanges = { typescript: ">=7 <8" }

// These packages contain compiled code, which can fail to load although the package is installed.
const compiled = ["node-pty", "zeromq"]

export function checkKarst(): Check {
  const { version = "unknown" } = readManifest(ownManifest)
  return { name: "karst", state: "ok", text: `${version}, ${dirname(ownManifest)}` }
}

export async function checkPackages(): Promise<Check[]> {
  const { peerDependencies = {} } = readManifest(ownManifest)
  const ranges = { ...peerDependencies, ...neededRanges }
  return await Promise.all(Object.entries(ranges).map(([name, range]) => checkPackage(name, range)))
}

async function checkPackage(name: string, range: string): Promise<Check> {
  const purpose = purposes[name] ?? "an optional part of Karst"
  const [manifest] = packageFolders().flatMap((folder) => findManifest(name, folder) ?? [])
  if (manifest === undefined) return { name, state: "missing", text: `for ${purpose}`, remedy: `npm install ${name}` }
  const { version } = attempt(() => readManifest(manifest)) ?? {}
  if (typeof version !== "string")
    return { name, state: "broken", text: `${manifest} cannot be read`, remedy: `npm install ${name}` }
  if (!isInRange(version, range)) {
    const remedy = `npm install ${name}@"${range}"`
    return { name, state: "broken", text: `${version}, for ${purpose}; Karst needs ${range}`, remedy }
  }
  const problem = compiled.includes(name) ? await loadProblem(name) : undefined
  if (problem === undefined) return { name, state: "ok", text: `${version}, for ${purpose}` }
  return { name, state: "broken", text: `${version} does not load: ${problem}`, remedy: `npm rebuild ${name}` }
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8"))
}

/** Looks in the node_modules folders from a folder upwards, as Node does. Runs no code of the package. */
function findManifest(name: string, from: string): string | undefined {
  const path = join(from, "node_modules", name, "package.json")
  if (existsSync(path)) return path
  const above = dirname(from)
  return above === from ? undefined : findManifest(name, above)
}

/** Understands ranges as package.json of Karst writes them: `>=1.9 <2`, `<8`. */
export function isInRange(version: string, range: string): boolean {
  return range.split(" ").every((part) => {
    const [, sign, bound = ""] = /^(>=|<)([\d.]+)$/.exec(part) ?? []
    const difference = compareVersions(version, bound)
    return sign === "<" ? difference < 0 : difference >= 0
  })
}

function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0))
  for (let index = 0; index < 3; index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

async function loadProblem(name: string): Promise<string | undefined> {
  try {
    await importOptionalPackage(name, "this check")
    return undefined
  } catch (error) {
    return errorData(error).message.split("\n")[0]
  }
}
