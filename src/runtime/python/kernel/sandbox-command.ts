// Builds the bubblewrap command that runs a program in a sandbox.
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { processTree } from "../../../core/child/process-usage.ts"
import { findBubblewrap } from "../../process/bubblewrap.ts"

export interface SandboxOptions {
  /** With `os`: network access. Default `none`. */
  network?: "none" | "all" | undefined
  /** With `os`: paths that are readable besides Python and the system's programs and libraries. Default: none. */
  read?: readonly string[] | undefined
  /** With `os`: paths that are writable besides the working folder. Default: none. */
  write?: readonly string[] | undefined
}

interface Command {
  command: string
  args: string[]
}

interface SandboxSetup extends SandboxOptions {
  cwd: string
  folder: string
  /** Paths that the program itself must read. */
  places: readonly string[]
}

/** The sandbox has separate processes, users, network and mounts. The program can read the system's programs and libraries,
 *  its own folder and the allowed paths. It ends with its host. */
export function sandboxCommand({ command, args }: Command, within: SandboxSetup): Command {
  const { network = "none", read = [], write = [], cwd, folder, places } = within
  const mounts = [
    ...systemPaths.flatMap(readOnlyArgs),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", join(folder, "tmp"), "/tmp"],
    // On disk, because memory in /dev/shm would not count towards the limit.
    ...["--bind", join(folder, "shm"), "/dev/shm"],
    ...places.flatMap(readOnlyArgs),
    ...read.map((path) => resolve(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...[...write.map((path) => resolve(path)), cwd, folder].flatMap((path) => ["--bind", path, path]),
    // If the host runs as root, the sandbox could otherwise write kernel settings through /proc.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
  ]
  const namespaces = [
    "--unshare-all",
    // --unshare-all only tries to separate users; this makes it mandatory.
    "--unshare-user",
    ...(network === "all" ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--hostname",
    "karst",
  ]
  const limits = ["--cap-drop", "ALL", "--chdir", cwd]
  return { command: findBubblewrap(), args: [...namespaces, ...mounts, ...limits, "--", command, ...args] }
}

/** Returns the process id of the sandboxed program: the first process below bubblewrap. */
export function findSandboxedProgram(pid: number): number {
  const isBubblewrap = (process: number) => readFileSync(`/proc/${process}/comm`, "utf8").trim() === "bwrap"
  // Bubblewrap runs twice: outside the sandbox, and as the first process inside.
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
  // On most systems /bin and /lib are links into /usr: create the same link in the sandbox.
  if (lstatSync(path).isSymbolicLink() && path.lastIndexOf("/") === 0) return ["--symlink", readlinkSync(path), path]
  if (path.startsWith("/usr/")) return []
  const real = realpathSync(path)
  return real === path ? ["--ro-bind", path, path] : ["--ro-bind", real, real, "--ro-bind", real, path]
}
