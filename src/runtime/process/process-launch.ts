// Starts the child process of a processRuntime with its flags, system limits and sandbox.
import type { ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { spawn } from "../../core/child/child-process.ts"
import { nodeSandboxCommand } from "./node-sandbox.ts"
import type { ResolvedLimits } from "./process-limits.ts"
import type { WorkingFolder } from "./working-folder.ts"

export interface ChildLaunchOptions {
  isolation: "process" | "os"
  folder: WorkingFolder
  bounds: ResolvedLimits
  env: Record<string, string>
  read: readonly string[]
  write: readonly string[]
  network: "none" | "all"
}

/** The child inherits only its standard streams, the socket (descriptor 3) and the pipe for stop requests (4). */
export function launchChild({
  isolation,
  folder,
  bounds,
  env,
  read,
  write,
  network,
}: ChildLaunchOptions): ChildProcess {
  const cwd = folder.path()
  const scratchMb = folder.isTemporary ? bounds.diskMb : undefined
  const cache = compileCacheFolder()
  const node = [
    process.execPath,
    `--max-old-space-size=${bounds.heapMb}`,
    // By default, V8's space for new objects grows with every cell, beyond what cells retain.
    "--max-semi-space-size=16",
    // Otherwise WebAssembly reserves more address space than the limit below allows.
    "--disable-wasm-trap-handler",
    "--no-warnings",
  ]
  const own = { HOME: cwd, TMPDIR: cwd, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }), ...env }
  const command =
    isolation === "os"
      ? nodeSandboxCommand({ node, entry: childEntry, cwd, scratchMb, read, write, network, env: own, cache })
      : [...parentDeathSignal(), ...node, childEntry]
  const [program = process.execPath, ...args] =
    process.platform === "win32" ? command : withSystemLimits(bounds, command)
  return spawn(program, args, {
    cwd,
    env: own,
    // A separate process group, so that all processes of the child can be killed together.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
  })
}

/** The child's program is in the same folder: `.ts` in the sources, `.js` in a build. */
const childEntry = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "child.ts" : "child.js", import.meta.url))

/** Sets system limits: no core files, a maximum file size and a maximum address space. Exceeding these is an error in
 *  the cell and does not end the process. The limit includes the address space that V8 reserves at its start. */
function withSystemLimits({ heapMb, memoryMb, diskMb }: ResolvedLimits, command: string[]): string[] {
  const kilobytes = (memoryMb + heapMb + reservedMb) * 1024
  // `ulimit -f` counts in units of 512 bytes.
  const limits = ["-c 0", `-f ${diskMb * 2048}`, `-v ${kilobytes}`].map((limit) => `ulimit ${limit} 2>/dev/null;`)
  return ["/bin/sh", "-c", `${limits.join(" ")} exec "$@"`, "sh", ...command]
}

const reservedMb = 1600

/** Makes the system kill the child when the host ends: code in an endless loop would not notice that. */
function parentDeathSignal(): string[] {
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path))
  return setpriv ? [setpriv, "--pdeathsig", "KILL", "--"] : []
}

/** Returns the folder of Node's compile cache, which makes later starts faster. Only this user can write to it. Each
 *  build has its own folder. */
function compileCacheFolder(): string | undefined {
  const root = join(tmpdir(), `karst-compile-cache-${process.getuid?.() ?? "user"}`)
  try {
    const build = createHash("sha256")
      .update(`${childEntry} ${statSync(childEntry).mtimeMs}`)
      .digest("hex")
      .slice(0, 16)
    const folder = join(root, build)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(root)
    return uid === process.getuid?.() && (mode & 0o077) === 0 ? folder : undefined
  } catch {
    return undefined
  }
}
