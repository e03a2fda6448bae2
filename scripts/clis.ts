// The coding CLIs that tests drive, at the versions whose streams Karst knows. They are large, so they are installed
// only where everything must run (KARST_REQUIRE_ALL=1), into a cache outside of the checkout.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"

export interface PinnedCli {
  package: string
  /** The current version: all tests run with it. */
  version: string
  /** An earlier version that behaves differently: the tests of that behaviour also run with it. */
  older?: string
}

export const pinnedClis = {
  claude: { package: "@anthropic-ai/claude-code", version: "2.1.325", older: "2.1.197" },
  codex: { package: "@openai/codex", version: "0.166.0" },
  opencode: { package: "opencode-ai", version: "1.18.33" },
  gemini: { package: "@google/gemini-cli", version: "0.61.0" },
} satisfies Record<string, PinnedCli>

export type CliName = keyof typeof pinnedClis

/** The versions of a CLI that tests run with, the current one first. */
export function testedVersions(name: CliName): string[] {
  const { version, older }: PinnedCli = pinnedClis[name]
  return older === undefined ? [version] : [version, older]
}

/** The folder with the pinned CLIs: `KARST_CLI_CACHE`, else a folder of the user's own cache. */
export function cliCache(): string {
  return process.env.KARST_CLI_CACHE ?? join(homedir(), ".cache", "karst", "clis")
}

/** The program of a CLI at a version, by default the current one: from the cache, else from PATH. */
export function findCli(name: CliName, version: string = pinnedClis[name].version): string | undefined {
  const cached = cachedProgram(name, version)
  if (cached !== undefined) return cached
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))
  return onPath.find((path) => versionOf(path) === version)
}

/** Installs what is missing in the cache, unless KARST_NO_INSTALL=1 forbids it. */
export function installClis(): void {
  if (process.env.KARST_NO_INSTALL === "1") return
  const missing = allVersions().filter(([name, version]) => cachedProgram(name, version) === undefined)
  if (missing.length === 0) return
  const folder = cliCache()
  mkdirSync(folder, { recursive: true })
  const dependencies = Object.fromEntries(
    allVersions().map(([name, version]) => [folderOf(name, version), `npm:${pinnedClis[name].package}@${version}`]),
  )
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }))
  const list = missing.map(([name, version]) => `${pinnedClis[name].package}@${version}`).join(", ")
  console.error(`Installing ${list} into ${folder} …`)
  const { status, error } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  })
  // The tests that need a CLI that is missing then fail with its name.
  if (error || status !== 0) console.error(`They were not installed: ${error?.message ?? `npm ended with ${status}`}.`)
}

function allVersions(): [CliName, string][] {
  // The keys of an object literal are its names.
  const names = Object.keys(pinnedClis) as CliName[]
  return names.flatMap((name) => testedVersions(name).map((version): [CliName, string] => [name, version]))
}

// Each version has a folder of its own, so that two of one CLI can be installed side by side.
function folderOf(name: CliName, version: string): string {
  return `${name}-${version}`
}

// Read from the package and not from `.bin`, where versions of one CLI have one name.
function cachedProgram(name: CliName, version: string): string | undefined {
  const folder = join(cliCache(), "node_modules", folderOf(name, version))
  try {
    const { bin, version: installed } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const path = typeof bin === "string" ? bin : bin?.[name]
    return installed === version && typeof path === "string" ? join(folder, path) : undefined
  } catch {
    return undefined
  }
}

function versionOf(path: string): string | undefined {
  const { stdout, error } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 20_000 })
  return error ? undefined : /\d+\.\d+\.\d+/.exec(stdout)?.[0]
}
