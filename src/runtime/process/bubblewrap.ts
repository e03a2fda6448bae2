// Runs Node in a bubblewrap sandbox, and tests whether the sandbox works on this machine.
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { spawnSync } from "../../core/child/child-process.ts"
import { UnsupportedError } from "../../core/errors.ts"

export interface BubblewrapOptions {
  /** Node and its flags. */
  node: readonly string[]
  entry: string
  cwd: string
  /** The size of a working directory in memory, which is mounted at `cwd`. Undefined: the real folder is used. */
  scratchMb: number | undefined
  read: readonly string[]
  write: readonly string[]
  network: "none" | "all"
  env: Record<string, string>
  cache: string | undefined
}

/** Returns the command. The sandbox sees Node, its libraries, Karst and the listed files. It sees no other processes,
 *  has no privileges, and no network unless `network` is `all`. */
export function bubblewrapCommand({
  node,
  entry,
  cwd,
  scratchMb,
  read,
  write,
  network,
  env,
  cache,
}: BubblewrapOptions): string[] {
  const karst = karstMounts()
  const readOnly = [...(cache === undefined ? [] : [cache]), ...read.map(realPathOf)]
  const readable = [...karst.map(([, to]) => to), ...readOnly]
  const shared = [...(scratchMb === undefined ? [cwd] : []), ...write.map(realPathOf)]
  const writable = [cwd, ...write.map(realPathOf)]
  const [binary = process.execPath, ...flags] = node
  return [
    findBubblewrap(),
    ...confinementArguments(network),
    ...[...nodeMounts(binary), ...karst].flatMap(([from, to]) => ["--ro-bind", from, to]),
    ...(network === "all" ? resolverFiles.flatMap((path) => ["--ro-bind-try", path, path]) : []),
    ...readOnly.flatMap((path) => ["--ro-bind", path, path]),
    ...(scratchMb === undefined ? [] : tmpfsArguments(cwd, scratchMb)),
    ...shared.flatMap((path) => ["--bind", path, path]),
    // The root of the sandbox is in memory too, so it is read-only. /proc is read-only because a root user could change
    // kernel settings through it.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...["--chdir", cwd],
    "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    "--",
    binary,
    ...flags,
    // A second layer: Node's permissions refuse child processes, threads and native code, and check the same lists of
    // files.
    "--permission",
    ...[...readable, ...writable, "/proc"].map((path) => `--allow-fs-read=${path}`),
    // Node reads a cache only if it may write there. The mount is read-only nevertheless.
    ...[...writable, ...(cache === undefined ? [] : [cache])].map((path) => `--allow-fs-write=${path}`),
    // Imported, because with these flags Node would first try to run the entry as a script.
    ...["--import", pathToFileURL(entry).href, "--eval", "0"],
  ]
}

/** Returns the isolation of a runtime. If the sandbox is not available, `os` throws, and `auto` warns and uses
 *  `process`. */
export function resolveIsolation(
  maker: string,
  wanted: "process" | "os" | "auto" = "process",
  warn: (message: string) => void,
): "process" | "os" {
  if (wanted === "process") return "process"
  const problem = sandboxProblem()
  if (problem === undefined) return "os"
  if (wanted === "os") {
    throw new UnsupportedError(
      `${maker}(): isolation "os" cannot be had: ${problem}. Or ask for "auto", which does without.`,
    )
  }
  warn(`${maker}(): only a process confines the cells, which keeps neither files nor network from them: ${problem}.`)
  return "process"
}

/** Returns why the sandbox does not work on this machine and the cure, or undefined if it works. Each program is tried
 *  once. */
export function sandboxProblem(program = findBubblewrap()): string | undefined {
  if (!probed.has(program)) probed.set(program, probeSandbox(program))
  return probed.get(program)
}

const probed = new Map<string, string | undefined>()

function probeSandbox(program: string): string | undefined {
  if (process.platform !== "linux") return `bubblewrap needs Linux, and this is ${process.platform}`
  const binds = nodeMounts(process.execPath).flatMap(([from, to]) => ["--ro-bind", from, to])
  const args = [...confinementArguments("none"), ...binds, "--", process.execPath, "--version"]
  const { error, status, stderr } = spawnSync(program, args, { env: {}, timeout: 10_000 })
  if (error && "code" in error && error.code === "ENOENT") {
    return "bubblewrap is not installed (on Debian: apt-get install bubblewrap)"
  }
  if (status === 0) return undefined
  return `bubblewrap does not work here (${stderr?.trim() || error?.message}): allow user namespaces, or run as root`
}

/** Returns the full path of bubblewrap, because the child may have another PATH. */
export function findBubblewrap(): string {
  const { PATH = "" } = process.env
  const folders = ["/usr/bin", "/bin", "/usr/local/bin", ...PATH.split(delimiter).filter(isAbsolute)]
  return folders.map((folder) => join(folder, "bwrap")).find((path) => existsSync(path)) ?? "bwrap"
}

function confinementArguments(network: BubblewrapOptions["network"]): string[] {
  return [
    ...["--unshare-all", "--unshare-user", ...(network === "all" ? ["--share-net"] : [])],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "karst"],
    ...["--proc", "/proc", "--dev", "/dev", ...tmpfsArguments("/tmp", 64)],
  ]
}

/** A temporary folder is in memory, so its size is limited. */
function tmpfsArguments(path: string, megabytes: number): string[] {
  return ["--size", String(megabytes * 1024 * 1024), "--tmpfs", path]
}

/** Returns Node and the libraries that this process has loaded. Each library is also mounted under its short name. */
function nodeMounts(binary: string): [from: string, to: string][] {
  const maps = readFileSync("/proc/self/maps", "latin1").split("\n")
  const mapped = new Set(maps.flatMap((line) => /\s(\/\S+\.so[\w.]*)$/.exec(line)?.[1] ?? []))
  const libraries = [...mapped].flatMap((path): [string, string][] => {
    const short = /^.*\.so(\.\d+)?/.exec(path)?.[0] ?? path
    return [path, ...(short === path ? [] : [short])].map((to) => [path, to])
  })
  const loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].filter((path) => existsSync(path))
  return [
    [realPathOf(binary), binary],
    ...libraries,
    ...loaders.map((path): [string, string] => [realPathOf(path), path]),
  ]
}

/** Returns Karst's own modules and the two packages that its compiler needs. */
function karstMounts(): [from: string, to: string][] {
  const source = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")
  const root = dirname(source)
  const packages = ["acorn", "@sveltejs/acorn-typescript"].flatMap((name) => {
    const folders = ancestors(root).map((folder) => join(folder, "node_modules", name))
    return folders.find((folder) => existsSync(folder)) ?? []
  })
  return [source, join(root, "package.json"), ...packages].map((path) => [realPathOf(path), path])
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

const resolverFiles = [
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/ssl/certs",
  "/usr/share/ca-certificates",
]

function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
