// Builds bubblewrap commands, and tests whether bubblewrap works on this machine.
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { spawnSync } from "./child-process.ts"

export interface BubblewrapOptions {
  network: "none" | "all"
  /** Arguments that mount files and folders, in this order. */
  mounts: readonly string[]
  cwd: string
  /** All environment variables of the program. Default: those of the bubblewrap process. */
  env?: Record<string, string> | undefined
  /** The program and its arguments. */
  command: readonly string[]
}

/** Returns the command that runs a program in a sandbox. The program sees only the mounted files and its own processes,
 *  has no privileges, no network unless `network` is `all`, and ends with its parent. */
export function bubblewrapCommand({ network, mounts, cwd, env, command }: BubblewrapOptions): string[] {
  const variables = Object.entries(env ?? {}).flatMap(([name, value]) => ["--setenv", name, value])
  return [
    findBubblewrap(),
    ...namespaceArguments(network),
    ...mounts,
    // The root of the sandbox is in memory, so it is read-only. /proc is read-only because a root user could change
    // kernel settings through it.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...["--chdir", cwd],
    ...(env ? ["--clearenv", ...variables] : []),
    ...["--", ...command],
  ]
}

/** Returns why the sandbox does not work on this machine and the cure, or undefined if it works. Each program is tried
 *  once. */
export function sandboxProblem(program = findBubblewrap()): string | undefined {
  const failure = sandboxFailure(program)
  return failure && `${failure.cause}. ${failure.remedy}`
}

/** Why bubblewrap cannot be used, and what to do about it, as sentences without a period at the end. */
export interface SandboxFailure {
  cause: string
  remedy: string
}

/** The same in two parts. */
export function sandboxFailure(program = findBubblewrap()): SandboxFailure | undefined {
  if (!probed.has(program)) probed.set(program, probeSandbox(program))
  return probed.get(program)
}

const probed = new Map<string, SandboxFailure | undefined>()

function probeSandbox(program: string): SandboxFailure | undefined {
  if (process.platform !== "linux") {
    const cause = `bubblewrap needs Linux, and this is ${process.platform}`
    return { cause, remedy: "Run code that you do not trust in a container or on Linux" }
  }
  const mounts = [...systemMounts, ...nodeMounts(process.execPath)]
  const args = [...namespaceArguments("none"), ...mounts, "--", process.execPath, "--version"]
  const { error, status, stderr } = spawnSync(program, args, { env: {}, timeoutMs: 10_000 })
  if (error && "code" in error && error.code === "ENOENT") {
    return { cause: "bubblewrap is not installed", remedy: "Install it; on Debian: apt-get install bubblewrap" }
  }
  if (status === 0) return undefined
  const cause = `bubblewrap does not work here (${stderr?.trim() || error?.message})`
  return { cause, remedy: "Allow user namespaces, or run as root" }
}

/** Returns the full path of bubblewrap, because the child may have another PATH. */
function findBubblewrap(): string {
  const { PATH = "" } = process.env
  const folders = ["/usr/bin", "/bin", "/usr/local/bin", ...PATH.split(delimiter).filter(isAbsolute)]
  return folders.map((folder) => join(folder, "bwrap")).find((path) => existsSync(path)) ?? "bwrap"
}

function namespaceArguments(network: BubblewrapOptions["network"]): string[] {
  return [
    // By itself, --unshare-all only tries to separate users; --unshare-user makes this mandatory.
    ...["--unshare-all", "--unshare-user", ...(network === "all" ? ["--share-net"] : [])],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "karst"],
  ]
}

/** Mounts an empty folder in memory, with a size limit. */
export function tmpfsMount(path: string, megabytes: number): string[] {
  return ["--size", String(megabytes * 1024 * 1024), "--tmpfs", path]
}

/** A private /proc and /dev, and a small /tmp in memory. */
export const systemMounts = ["--proc", "/proc", "--dev", "/dev", ...tmpfsMount("/tmp", 64)]

/** Mounts Node and the libraries that this process has loaded, each library also under its short name. */
export function nodeMounts(binary: string): string[] {
  const maps = readFileSync("/proc/self/maps", "latin1").split("\n")
  const mapped = new Set(maps.flatMap((line) => /\s(\/\S+\.so[\w.]*)$/.exec(line)?.[1] ?? []))
  const libraries = [...mapped].flatMap((path): [string, string][] => {
    const short = /^.*\.so(\.\d+)?/.exec(path)?.[0] ?? path
    return [path, ...(short === path ? [] : [short])].map((to) => [path, to])
  })
  const loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].filter((path) => existsSync(path))
  const toItself = (path: string): [string, string] => [realPathOf(path), path]
  const files = [toItself(binary), ...libraries, ...loaders.map(toItself)]
  return files.flatMap(([from, to]) => ["--ro-bind", from, to])
}

export function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
