import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { processTree } from "../../../core/child/process-usage.ts"
import { findBubblewrap } from "../../process/bubblewrap.ts"

export interface SandboxOptions {
  /** With `os`: whether it has a network. Default `none`. */
  network?: "none" | "all" | undefined
  /** With `os`: what it may read besides Python and the system's programs and libraries. Default: nothing. */
  read?: readonly string[] | undefined
  /** With `os`: what it may write besides its working directory. Default: nothing. */
  write?: readonly string[] | undefined
}

interface Command {
  command: string
  args: string[]
}

interface SandboxSetup extends SandboxOptions {
  cwd: string
  folder: string
  /** What the program itself needs to read. */
  places: readonly string[]
}

/** A command that runs another under bubblewrap: its own processes, users, network and view of the files. It sees the
 *  system's programs and libraries read-only, its own folder, and what was allowed; it dies with its host. */
export function sandboxCommand({ command, args }: Command, within: SandboxSetup): Command {
  const { network = "none", read = [], write = [], cwd, folder, places } = within
  const bound = [
    ...systemPaths.flatMap(readOnlyArgs),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", join(folder, "tmp"), "/tmp"],
    // On disk and not in memory that nobody counts.
    ...["--bind", join(folder, "shm"), "/dev/shm"],
    ...places.flatMap(readOnlyArgs),
    ...read.map((path) => resolve(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...[...write.map((path) => resolve(path)), cwd, folder].flatMap((path) => ["--bind", path, path]),
    // Where the host is root, the settings of its own kernel could be written through /proc.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
  ]
  const apart = [
    "--unshare-all",
    // By itself the former only tries this one.
    "--unshare-user",
    ...(network === "all" ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--hostname",
    "karst",
  ]
  const limits = ["--cap-drop", "ALL", "--chdir", cwd]
  return { command: findBubblewrap(), args: [...apart, ...bound, ...limits, "--", command, ...args] }
}

/** The program that runs in a sandbox: the first process below bubblewrap's own. */
export function findSandboxedProgram(pid: number): number {
  const isBubblewrap = (process: number) => readFileSync(`/proc/${process}/comm`, "utf8").trim() === "bwrap"
  // Bubblewrap is there twice, once outside and once as the first process inside.
  return processTree(pid, 3).find((process) => !isBubblewrap(process)) ?? pid
}

const systemPaths = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/etc/ld.so.cache",
  "/etc/alternatives",
  "/etc/fonts",
  "/etc/localtime",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/resolv.conf",
  "/etc/nsswitch.conf",
  "/etc/matplotlibrc",
  "/etc/python3",
]

function readOnlyArgs(path: string): string[] {
  if (!existsSync(path)) return []
  // On most systems /bin and /lib lead into /usr; a link says so inside as well.
  if (lstatSync(path).isSymbolicLink() && path.lastIndexOf("/") === 0) return ["--symlink", readlinkSync(path), path]
  if (path.startsWith("/usr/")) return []
  const real = realpathSync(path)
  return real === path ? ["--ro-bind", path, path] : ["--ro-bind", real, real, "--ro-bind", real, path]
}
