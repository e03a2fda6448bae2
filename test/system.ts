import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, join } from "node:path"
import { type CliName, findCli, pinnedClis } from "../scripts/clis.ts"

/** What a test may need of the machine it runs on. */
export type SystemPart =
  | "python"
  | "numpy"
  | "pandas"
  | "matplotlib"
  | "pyarrow"
  | "zeromq"
  | "bwrap"
  | "ripgrep"
  | "tmux"
  | "bash"
  | "zsh"
  | "fish"
  | "node-pty"
  | "redis"
  | "small-disk"
  | "typescript"
  | CliName

/** Why a test that needs these parts is skipped here, with the cure; undefined when all are there:
 *  `test("…", { skip: requires("python", "pandas") }, …)`. */
export function requires(...parts: SystemPart[]): string | undefined {
  for (const part of parts) {
    const reason = missing(part)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** Why a long test is skipped in a plain run, with the variable that runs it: `{ skip: skipUnless("KARST_CRASH_ALL")
 *  }`. */
export function skipUnless(variable: "KARST_REQUIRE_ALL" | "KARST_CRASH_ALL"): string | undefined {
  return process.env[variable] ? undefined : `by design: takes long; ${variable}=1 runs it`
}

/** The interpreter that tests use: the one `pythonRuntime` finds by itself; undefined when there is none. */
export function python(): string | undefined {
  found ??= { path: pythons().find((path) => hasModule(path, "ipykernel")) }
  return found.path
}

let found: { path: string | undefined } | undefined
const reasons = new Map<SystemPart, string | undefined>()

function missing(part: SystemPart): string | undefined {
  if (!reasons.has(part)) reasons.set(part, look[part]())
  return reasons.get(part)
}

const look: Record<SystemPart, () => string | undefined> = {
  python: () => (python() ? requires("zeromq") : `no Python with ipykernel: ${debian("python3-ipykernel")}`),
  numpy: () => pythonModule("numpy"),
  pandas: () => pythonModule("pandas"),
  matplotlib: () => pythonModule("matplotlib"),
  pyarrow: () => pythonModule("pyarrow", "pip install pyarrow, for the interpreter in KARST_PYTHON"),
  zeromq: () => npmPackage("zeromq"),
  typescript: () => npmPackage("typescript"),
  claude: () => missingCli("claude"),
  codex: () => missingCli("codex"),
  opencode: () => missingCli("opencode"),
  gemini: () => missingCli("gemini"),
  ripgrep: () => (spawnSync("rg", ["--version"]).error ? `ripgrep is not installed: ${debian("ripgrep")}` : undefined),
  bash: () => missingShell("bash"),
  zsh: () => missingShell("zsh"),
  fish: () => missingShell("fish"),
  tmux: () => (spawnSync("tmux", ["-V"]).error ? `tmux is not installed: ${debian("tmux")}` : undefined),
  "node-pty": () => npmPackage("node-pty"),
  redis: () =>
    spawnSync("redis-server", ["--version"]).error
      ? `Redis is not installed: ${debian("redis-server")}`
      : npmPackage("ioredis"),
  "small-disk"() {
    const { error, status, stderr } = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"], {
      encoding: "utf8",
    })
    if (!error && status === 0) return undefined
    return `by design: a small disk cannot be mounted here (${error?.message ?? stderr.trim()}): run as root`
  },
  bwrap() {
    const sandbox = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "true"]
    const { error, status, stderr } = spawnSync("bwrap", sandbox, { encoding: "utf8" })
    if (error) return `bubblewrap is not installed: ${debian("bubblewrap")}`
    if (status === 0) return undefined
    return `bubblewrap does not work here (${stderr.trim()}): allow user namespaces, or run as root`
  },
}

function pythonModule(name: string, cure = debian(`python3-${name}`)): string | undefined {
  const path = python()
  if (!path) return missing("python")
  return hasModule(path, name) ? undefined : `${name} is not installed for ${path}: ${cure}`
}

function missingCli(name: CliName): string | undefined {
  if (findCli(name) !== undefined) return undefined
  const { package: from, version } = pinnedClis[name]
  return `${name} ${version} is not installed: npm install -g ${from}@${version}, or KARST_REQUIRE_ALL=1 npm test`
}

function npmPackage(name: string): string | undefined {
  try {
    createRequire(import.meta.url).resolve(`${name}/package.json`)
    return undefined
  } catch {
    return `the npm package ${name} is not installed: npm ci`
  }
}

function pythons(): string[] {
  const { KARST_PYTHON, VIRTUAL_ENV, PATH = "" } = process.env
  if (KARST_PYTHON) return [KARST_PYTHON]
  const environment = VIRTUAL_ENV ? [join(VIRTUAL_ENV, "bin", "python")] : []
  const onPath = PATH.split(delimiter).flatMap((folder) => [join(folder, "python3"), join(folder, "python")])
  return [...environment, ...onPath].filter((path) => existsSync(path))
}

// Looks for the module without loading it, which may take a second.
function hasModule(path: string, name: string): boolean {
  const code = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`
  return spawnSync(path, ["-c", code], { stdio: "ignore" }).status === 0
}

function missingShell(name: string): string | undefined {
  return spawnSync(name, ["--version"]).error ? `${name} is not installed: ${debian(name)}` : undefined
}

function debian(name: string): string {
  return `apt-get install ${name}`
}
