import type { ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { spawn } from "../../core/child/child-process.ts"
import { bubblewrapCommand } from "./bubblewrap.ts"
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

/** Starts a child. It inherits no descriptor but its standard streams and the channel, which is the fourth. */
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
    // By default V8's space for new objects grows with every cell, beyond the size of what cells keep.
    "--max-semi-space-size=16",
    // Without it, WebAssembly reserves more address space than the limit below leaves.
    "--disable-wasm-trap-handler",
    "--no-warnings",
  ]
  const own = { HOME: cwd, TMPDIR: cwd, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }), ...env }
  const command =
    isolation === "os"
      ? bubblewrapCommand({ node, entry: childEntry, cwd, scratchMb, read, write, network, env: own, cache })
      : [...parentDeathSignal(), ...node, childEntry]
  const [program = process.execPath, ...args] =
    process.platform === "win32" ? command : withSystemLimits(bounds, command)
  return spawn(program, args, {
    cwd,
    env: own,
    // Its own group, so that whatever it started ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  })
}

/** The program of the child, in the folder of this file: `.ts` in the sources, `.js` in a build. */
const childEntry = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "child.ts" : "child.js", import.meta.url))

/** Limits of the system: no core files, a largest file size and a largest address space, so that exceeding them is
 *  an error in the cell and does not end the process. The address space that V8 reserves at its start is added. */
function withSystemLimits({ heapMb, memoryMb, diskMb }: ResolvedLimits, command: string[]): string[] {
  const kilobytes = (memoryMb + heapMb + reservedMb) * 1024
  // `ulimit -f` counts in units of 512 bytes.
  const limits = ["-c 0", `-f ${diskMb * 2048}`, `-v ${kilobytes}`].map((limit) => `ulimit ${limit} 2>/dev/null;`)
  return ["/bin/sh", "-c", `${limits.join(" ")} exec "$@"`, "sh", ...command]
}

const reservedMb = 1600

/** Has the system end the child with its host: code in an endless loop would not notice that the host has ended. */
function parentDeathSignal(): string[] {
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path))
  return setpriv ? [setpriv, "--pdeathsig", "KILL", "--"] : []
}

/** The folder of Node's compile cache, which makes later starts faster. Only this user can write it; each build has
 *  its own. */
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
