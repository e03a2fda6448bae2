// A bubblewrap sandbox with the system's programs and libraries, for Python kernels and shell commands.
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { bubblewrapCommand } from "./bubblewrap.ts"
import { processTree } from "./process-tree.ts"

export interface SystemSandboxOptions {
  network?: "none" | "all" | undefined
  /** Paths that are readable besides the system's programs and libraries. */
  read?: readonly string[] | undefined
  /** Paths that are writable besides `cwd` and `folder`. */
  write?: readonly string[] | undefined
  /** Paths inside writable ones that stay read-only. Those that do not exist are ignored. */
  protect?: readonly string[] | undefined
  cwd: string
  /** A private folder. Its subfolders `tmp` and `shm` are mounted as /tmp and /dev/shm. */
  folder: string
  /** Paths that the program itself must read. */
  programPaths: readonly string[]
}

/** Returns the command that runs a program, given as a list with its arguments, in the sandbox. */
export function systemSandboxCommand(command: readonly string[], options: SystemSandboxOptions): string[] {
  const { network = "none", read = [], write = [], protect = [], cwd, folder, programPaths } = options
  const mounts = [
    ...systemPaths.flatMap(readOnlyMount),
    ...["--proc", "/proc", "--dev", "/dev", "--bind", join(folder, "tmp"), "/tmp"],
    // On disk, because memory in /dev/shm would not count towards the limit.
    ...["--bind", join(folder, "shm"), "/dev/shm"],
    ...programPaths.flatMap(readOnlyMount),
    ...read.map((path) => resolve(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...[...write.map((path) => resolve(path)), cwd, folder].flatMap((path) => ["--bind", path, path]),
    ...protect.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
  ]
  return bubblewrapCommand({ network, mounts, cwd, command })
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

function readOnlyMount(path: string): string[] {
  if (!existsSync(path)) return []
  // On most systems /bin and /lib are links into /usr: create the same link in the sandbox.
  if (lstatSync(path).isSymbolicLink() && path.lastIndexOf("/") === 0) return ["--symlink", readlinkSync(path), path]
  if (path.startsWith("/usr/")) return []
  const real = realpathSync(path)
  return real === path ? ["--ro-bind", path, path] : ["--ro-bind", real, real, "--ro-bind", real, path]
}
