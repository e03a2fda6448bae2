// Starts the Python process of a kernel, in a sandbox if requested, and ends it with everything it started.
import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import type { Socket } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { hasEnded, killGroup, onProgramExit } from "../../../core/child/child-end.ts"
import { spawn } from "../../../core/child/child-process.ts"
import { processTree, waitUntilGone } from "../../../core/child/process-tree.ts"
import { megabyte } from "../../../core/child/process-usage.ts"
import { findSandboxedProgram, systemSandboxCommand } from "../../../core/child/system-sandbox.ts"
import { writeNewPrivateFile } from "../../../core/private-files.ts"
import { removeFolder, removeFolderSync } from "../../../core/remove-folder.ts"
import { findInterpreter, type Interpreter } from "./find-interpreter.ts"

export interface SandboxOptions {
  /** With `os`: network access. Default `none`. */
  network?: "none" | "all" | undefined
  /** With `os`: paths that are readable besides Python and the system's programs and libraries. Default: none. */
  read?: readonly string[] | undefined
  /** With `os`: paths that are writable besides the working folder. Default: none. */
  write?: readonly string[] | undefined
}

export interface LaunchOptions extends SandboxOptions {
  python?: string | undefined
  cwd?: string | undefined
  env?: Record<string, string | undefined> | undefined
  memoryMb: number
  isolation: "process" | "os"
}

/** A kernel's process and the private folder it shares with its host. */
export interface KernelProcess {
  pid: number
  /** Its temporary folder. Cells work there unless `cwd` is set. */
  folder: string
  /** The key that signs Jupyter messages. */
  key: string
  /** Resolves when the process ends, with the reason as text. */
  exited: Promise<string>
  endpoint(channel: "shell" | "iopub"): string
  /** Sends SIGINT. A message would not reach code that never returns to the event loop. */
  interrupt(): void
  /** Kills the process and its process group. */
  kill(): void
  /** Kills the process and, in a sandbox, all processes it started; then removes its folder. */
  end(): Promise<void>
}

/** Starts a kernel, which then connects to the host's socket and sends the token. */
export async function launchKernel(
  folder: string,
  socket: string,
  token: string,
  options: LaunchOptions,
): Promise<KernelProcess> {
  const interpreter = await findInterpreter(options.python)
  const key = randomBytes(32).toString("hex")
  const connection = join(folder, "connection.json")
  await writeNewPrivateFile(connection, JSON.stringify(connectionFile(folder, key)))
  const work = join(folder, "work")
  const cwd = options.cwd ?? work
  const isSandboxed = options.isolation === "os"
  const programPaths = [...interpreter.paths, interpreter.executable, assetsFolder]
  const kernelCommand = [interpreter.executable, join(assetsFolder, "kernel.py")]
  const [program = interpreter.executable, ...args] = isSandboxed
    ? systemSandboxCommand(kernelCommand, { ...options, cwd, folder, programPaths })
    : kernelCommand
  const child = spawn(program, args, {
    cwd,
    env: kernelEnvironment(work, interpreter, options.env),
    stdio: ["pipe", "ignore", "pipe"],
    // A separate process group: Ctrl-C in the terminal does not reach it, and its children are killed with it.
    detached: true,
  })
  const exited = watchExit(child)
  preferForOomKill(child.pid)
  child.unref()
  // Node's types hide that the pipes of a child process are sockets.
  ;(child.stderr as Socket | null)?.unref()
  const parent = isSandboxed ? 0 : process.pid
  // More than the memory limit, because libraries reserve address space that they never use.
  const addressSpace = Math.min((options.memoryMb + 4096) * megabyte, Number.MAX_SAFE_INTEGER)
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(`${JSON.stringify({ connection, socket, token, parent, addressSpace })}\n`)
  const kill = () => {
    // After the process has ended, another process may have its id.
    if (!hasEnded(child)) killGroup(child)
  }
  const removeExitHandler = onProgramExit(() => {
    kill()
    removeFolderSync(folder)
  })
  return {
    pid: child.pid ?? 0,
    folder,
    key,
    exited,
    endpoint: (channel) => `ipc://${join(folder, "k")}-${ports[channel]}`,
    interrupt() {
      if (child.pid === undefined || hasEnded(child)) return
      try {
        process.kill(isSandboxed ? findSandboxedProgram(child.pid) : child.pid, "SIGINT")
      } catch {
        // The process has just ended.
      }
    },
    kill,
    async end() {
      const tree = hasEnded(child) || child.pid === undefined ? [] : processTree(child.pid, maxProcesses)
      kill()
      await exited
      // In a sandbox the system also ends processes that left the group, shortly after bubblewrap has ended.
      if (isSandboxed) await waitUntilGone(tree)
      removeExitHandler()
      await removeFolder(folder)
    },
  }
}

const assetsFolder = fileURLToPath(new URL("../assets", import.meta.url))
const ports = { shell: 1, iopub: 2, stdin: 3, control: 4, hb: 5 }

function connectionFile(folder: string, key: string): object {
  const numbered = Object.fromEntries(Object.entries(ports).map(([channel, port]) => [`${channel}_port`, port]))
  return { ...numbered, ip: join(folder, "k"), transport: "ipc", key, signature_scheme: "hmac-sha256", kernel_name: "" }
}

/** If memory runs out, the system ends the kernel and its children before the host. */
function preferForOomKill(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000")
  } catch {
    // Only Linux has this file.
  }
}

/** Contains only the variables that Python needs, not the host's whole environment. */
function kernelEnvironment(
  work: string,
  { userBase }: Interpreter,
  given: Record<string, string | undefined> = {},
): Record<string, string | undefined> {
  const { PATH, TZ, VIRTUAL_ENV } = process.env
  return {
    PATH,
    TZ,
    VIRTUAL_ENV,
    LANG: "C.UTF-8",
    HOME: work,
    TMPDIR: work,
    IPYTHONDIR: join(work, ".ipython"),
    PYTHONUSERBASE: userBase,
    PYDEVD_DISABLE_FILE_VALIDATION: "1",
    ...given,
  }
}

function watchExit(child: ChildProcess): Promise<string> {
  let stderr = ""
  child.stderr?.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-4000)
  })
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`it could not be started: ${error.message}`))
    child.on("exit", (code, signal) => {
      // Kill the processes it started.
      killGroup(child)
      const how = signal ? `it was ended by ${signal}` : `it ended with code ${code}`
      const finish = () => resolve([how, exitCause(stderr)].filter(Boolean).join(": "))
      child.on("close", finish)
      // A child process may hold the pipe open, so do not wait for its end.
      setTimeout(finish, 100).unref()
    })
  })
}

/** Returns the line of stderr that says why the process ended. */
function exitCause(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  return lines.find((line) => line.startsWith("Fatal Python error")) ?? lines.at(-1) ?? ""
}

const maxProcesses = 10_000
