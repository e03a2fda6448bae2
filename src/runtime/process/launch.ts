import type { ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { spawn } from "../../core/child-process.ts"
import type { WorkingFolder } from "./folder.ts"
import { sandboxed } from "./isolation.ts"
import type { Bounds } from "./limits.ts"

export interface Launch {
  isolation: "process" | "os"
  folder: WorkingFolder
  bounds: Bounds
  env: Record<string, string>
  read: readonly string[]
  write: readonly string[]
  network: "none" | "all"
}

/** Starts a child with only what it is given. Its fourth descriptor is the channel; it inherits no other. */
export function launch({ isolation, folder, bounds, env, read, write, network }: Launch): ChildProcess {
  const cwd = folder.path()
  const scratchMb = folder.isTemporary ? bounds.diskMb : undefined
  const cache = compileCache()
  const node = [
    process.execPath,
    `--max-old-space-size=${bounds.heapMb}`,
    // Left alone, the space for new objects grows with every cell, to more than all that cells keep.
    "--max-semi-space-size=16",
    // Without it, WebAssembly reserves more address space than the limit below leaves.
    "--disable-wasm-trap-handler",
    "--no-warnings",
  ]
  const own = { HOME: cwd, TMPDIR: cwd, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }), ...env }
  const command =
    isolation === "os"
      ? sandboxed({ node, entry, cwd, scratchMb, read, write, network, env: own, cache })
      : [...diesWithParent(), ...node, entry]
  const [program = process.execPath, ...args] = process.platform === "win32" ? command : limited(bounds, command)
  return spawn(program, args, {
    cwd,
    env: own,
    // Its own group, so that whatever it started ends with it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  })
}

/** The program of the child: beside this file, built or not as this file is. */
const entry = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "child.ts" : "child.js", import.meta.url))

/** No core files; an end to files, and to address space, so that a line or a buffer too many is an error in the cell and
 *  not a kill. What V8 reserves at its start comes on top. */
function limited({ heapMb, memoryMb, diskMb }: Bounds, command: string[]): string[] {
  const kilobytes = (memoryMb + heapMb + reservedMb) * 1024
  // A shell counts files in halves of a kilobyte.
  const limits = ["-c 0", `-f ${diskMb * 2048}`, `-v ${kilobytes}`].map((limit) => `ulimit ${limit} 2>/dev/null;`)
  return ["/bin/sh", "-c", `${limits.join(" ")} exec "$@"`, "sh", ...command]
}

const reservedMb = 1600

/** Code that never lets go of the processor would not notice that its host is gone: the kernel ends it. */
function diesWithParent(): string[] {
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path))
  return setpriv ? [setpriv, "--pdeathsig", "KILL", "--"] : []
}

/** What Node made of the program is kept between starts, in a folder that nobody else can write: another one for each build. */
function compileCache(): string | undefined {
  const root = join(tmpdir(), `karst-compile-cache-${process.getuid?.() ?? "user"}`)
  try {
    const build = createHash("sha256")
      .update(`${entry} ${statSync(entry).mtimeMs}`)
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
