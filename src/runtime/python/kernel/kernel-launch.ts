import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import type { Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { spawn } from "../../../core/child/child-process.ts"
import { processTree } from "../../../core/child/process-usage.ts"
import { findInterpreter, type Interpreter } from "./find-interpreter.ts"
import { removeFolder, removeFolderSync } from "./kernel-folder.ts"
import { findSandboxedProgram, type SandboxOptions, sandboxCommand } from "./sandbox-command.ts"

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
  folder: string
  /** The key that messages are signed with. */
  key: string
  /** The end of the process, told as people would. */
  exited: Promise<string>
  endpoint(channel: "shell" | "iopub"): string
  /** Ctrl-C. By a signal and not by a message: code that never lets go of the interpreter would not hear one. */
  interrupt(): void
  /** Ends it and what it started, at once. */
  kill(): void
  /** Ends it and, in a sandbox, all that it started, and removes its folder. */
  end(): Promise<void>
}

/** Starts a kernel that will connect to the host's socket and say the token. */
export async function launchKernel(
  folder: string,
  socket: string,
  token: string,
  options: LaunchOptions,
): Promise<KernelProcess> {
  const interpreter = await findInterpreter(options.python)
  const key = randomBytes(32).toString("hex")
  const connection = join(folder, "connection.json")
  await writeFile(connection, JSON.stringify(connectionFile(folder, key)), { mode: 0o600 })
  const work = join(folder, "work")
  const cwd = options.cwd ?? work
  const plain = { command: interpreter.executable, args: [join(assetsFolder, "kernel.py")] }
  const inside = options.isolation === "os"
  const places = [...interpreter.places, interpreter.executable, assetsFolder]
  const { command, args } = inside ? sandboxCommand(plain, { ...options, cwd, folder, places }) : plain
  const child = spawn(command, args, {
    cwd,
    env: kernelEnvironment(work, interpreter, options.env),
    stdio: ["pipe", "ignore", "pipe"],
    // A group of its own: Ctrl-C in the terminal is not for it, and its children end with it.
    detached: true,
  })
  const exited = watchExit(child)
  preferForOomKill(child.pid)
  child.unref()
  // A true boundary: pipes of a child are sockets.
  ;(child.stderr as Socket | null)?.unref()
  const parent = inside ? 0 : process.pid
  // Some room above what may be used: libraries reserve much that they never touch.
  const addressSpace = (options.memoryMb + 4096) * 1024 * 1024
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(`${JSON.stringify({ connection, socket, token, parent, addressSpace })}\n`)
  const kill = () => {
    // Later its number may be another's.
    if (!hasEnded(child)) killGroup(child)
  }
  const leave = onProgramExit(() => {
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
        process.kill(inside ? findSandboxedProgram(child.pid) : child.pid, "SIGINT")
      } catch {
        // It ended in this moment.
      }
    },
    kill,
    async end() {
      const tree = hasEnded(child) || child.pid === undefined ? [] : processTree(child.pid, maxProcesses)
      kill()
      await exited
      // In a sandbox the system ends what has left the group, after the end of the process that was started here.
      if (inside) await waitUntilGone(tree)
      leave()
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

/** Where memory runs out, the system shall end the kernel and what it started, and not its host. */
function preferForOomKill(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000")
  } catch {
    // Only Linux has it.
  }
}

/** Only what Python needs; nothing of the host's own environment. */
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
      // What it started ends with it.
      killGroup(child)
      const how = signal ? `it was ended by ${signal}` : `it ended with code ${code}`
      const tell = () => resolve([how, exitCause(stderr)].filter(Boolean).join(": "))
      child.on("close", tell)
      // A child of its own may hold the pipe open: the end of that is not waited for.
      setTimeout(tell, 100).unref()
    })
  })
}

/** Of what a dying process wrote, what says why. */
function exitCause(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "")
  return lines.find((line) => line.startsWith("Fatal Python error")) ?? lines.at(-1) ?? ""
}

/** Does something when the program ends, for what nobody has closed; gives the way to forget it. */
function onProgramExit(work: () => void): () => void {
  if (exitHandlers.size === 0) process.on("exit", runExitHandlers)
  exitHandlers.add(work)
  return () => {
    exitHandlers.delete(work)
    if (exitHandlers.size === 0) process.off("exit", runExitHandlers)
  }
}

const exitHandlers = new Set<() => void>()

function runExitHandlers(): void {
  for (const work of exitHandlers) work()
}

const maxProcesses = 10_000

/** Resolves when none of the processes is there any more, or after two seconds. */
async function waitUntilGone(tree: readonly number[]): Promise<void> {
  for (let round = 0; round < 200 && tree.some((pid) => existsSync(`/proc/${pid}`)); round++) await delay(10)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // Nobody is left in it.
  }
}
