import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import { text } from "node:stream/consumers"
import { spawn } from "../../core/child/child-process.ts"
import { comparePaths, joinPath } from "../../workspaces/workspace-path.ts"
import type { SearchPattern } from "./search-pattern.ts"

export interface RipgrepSearch {
  command: string
  pattern: SearchPattern
  /** A folder of this machine, and its path in the workspace. */
  directory: string
  folder: string
  hidden: boolean
  /** Files that do not fit are not wanted; others may be told. */
  glob: string | undefined
  signal: AbortSignal
}

/** Paths of all files that may have a match, in order and each made when it is asked for; undefined when ripgrep cannot say. Each is still to be looked at: what counts
 *  is our own dialect, and which files there are is what the workspace says. */
export async function filesByRipgrep(search: RipgrepSearch): Promise<Iterable<string> | undefined> {
  const { command, pattern, directory, folder, signal } = search
  if (pattern.wider === undefined) return undefined
  signal.throwIfAborted()
  const child = spawn(command, argumentsOf(search, pattern.wider), {
    cwd: directory,
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve)
    child.once("error", () => resolve(null))
  })
  const [output, status] = await Promise.all([text(child.stdout).catch(() => ""), ended])
  signal.throwIfAborted()
  // 1 says that there are none; anything else that it could not search all, or not this pattern.
  if (status !== 0 && status !== 1) return undefined
  const paths = output.split("\0").slice(0, -1)
  // Beyond the first plane the order of strings is not that of paths; otherwise it is, and is had much faster.
  if (/[\ud800-\udfff]/.test(output)) paths.sort(comparePaths)
  else paths.sort()
  return paths.values().map((path) => joinPath(folder, path.startsWith("./") ? path.slice(2) : path))
}

/** Where ripgrep is, by the PATH of this process; undefined when it is not installed. */
export function findRipgrep(): string | undefined {
  const name = process.platform === "win32" ? "rg.exe" : "rg"
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function argumentsOf({ pattern, hidden, glob }: RipgrepSearch, regexp: string): string[] {
  const options = ["--no-config", "--no-ignore", "--no-messages", "--color=never", "--null", "--files-with-matches"]
  if (pattern.ignoreCase) options.push("--ignore-case")
  if (pattern.isMultiline) options.push("--multiline")
  if (hidden) options.push("--hidden")
  if (glob !== undefined && isCommonGlob(glob)) options.push(`--glob=${glob}`)
  if (!hidden) options.push("--glob=!node_modules/")
  return [...options, `--regexp=${regexp}`, "--", "."]
}

// These mean the same to ripgrep. The others are left to us: they only save time.
function isCommonGlob(glob: string): boolean {
  return /^[\w.*{},-]+(?:\/[\w.*{},-]+)*$/.test(glob) && !/^\.\/|[^/]\*\*|\*\*[^/]/.test(glob)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
