// The coding CLIs that tests drive, at the versions whose streams Karst knows. They are large, so they are installed only where everything must run
// (KARST_REQUIRE_ALL=1), into a cache outside of the checkout.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"

export interface PinnedCli {
  package: string
  version: string
}

export const pinnedClis = {
  claude: { package: "@anthropic-ai/claude-code", version: "2.1.197" },
  codex: { package: "@openai/codex", version: "0.166.0" },
  opencode: { package: "opencode-ai", version: "1.18.33" },
  gemini: { package: "@google/gemini-cli", version: "0.61.0" },
} satisfies Record<string, PinnedCli>

export type CliName = keyof typeof pinnedClis

/** Where the pinned CLIs are kept: `KARST_CLI_CACHE`, else a folder of the user's own cache. */
export function cliCache(): string {
  return process.env.KARST_CLI_CACHE ?? join(homedir(), ".cache", "karst", "clis")
}

/** The program of a CLI at its pinned version: from the cache, else from PATH. */
export function findCli(name: CliName): string | undefined {
  const { package: from, version } = pinnedClis[name]
  if (installedVersion(from) === version) return join(cliCache(), "node_modules", ".bin", name)
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name))
  return onPath.find((path) => versionOf(path) === version)
}

/** Installs what is missing in the cache, unless KARST_NO_INSTALL=1 forbids it. */
export function installClis(): void {
  if (process.env.KARST_NO_INSTALL === "1") return
  const missing = Object.values(pinnedClis).filter((cli) => installedVersion(cli.package) !== cli.version)
  if (missing.length === 0) return
  const folder = cliCache()
  mkdirSync(folder, { recursive: true })
  const dependencies = Object.fromEntries(Object.values(pinnedClis).map((cli) => [cli.package, cli.version]))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }))
  console.error(`Installing ${missing.map((cli) => `${cli.package}@${cli.version}`).join(", ")} into ${folder} …`)
  const { status, error } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  })
  // What is not there then is told by the tests that need it.
  if (error || status !== 0) console.error(`They were not installed: ${error?.message ?? `npm ended with ${status}`}.`)
}

function installedVersion(from: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(cliCache(), "node_modules", from, "package.json"), "utf8")).version
  } catch {
    return undefined
  }
}

function versionOf(path: string): string | undefined {
  const { stdout, error } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 20_000 })
  return error ? undefined : /\d+\.\d+\.\d+/.exec(stdout)?.[0]
}
