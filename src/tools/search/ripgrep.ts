// Preselects files with ripgrep: those that contain a text which every match of the pattern contains.
import { delimiter, isAbsolute, join } from "node:path"
import { text } from "node:stream/consumers"
import { spawn } from "../../core/child/child-process.ts"
import { isExecutable } from "../../core/child/executable.ts"
import { comparePaths, joinPath } from "../../workspaces/workspace-path.ts"
import type { SearchPattern } from "./search-pattern.ts"

export interface RipgrepSearch {
  command: string
  pattern: SearchPattern
  /** A local folder, and its path in the workspace. */
  directory: string
  folder: string
  hidden: boolean
  /** Files that do not fit are not needed, but may be returned. */
  glob: string | undefined
  signal: AbortSignal
}

/** Returns the paths of all files that may contain a match, in order; undefined if ripgrep cannot tell. The caller must
 *  still search each file: our own dialect decides, and the workspace decides which files exist. */
export async function filesByRipgrep(search: RipgrepSearch): Promise<Iterable<string> | undefined> {
  const { command, pattern, directory, folder, signal } = search
  if (pattern.requiredText === undefined) return undefined
  signal.throwIfAborted()
  const child = spawn(command, argumentsOf(search, pattern.requiredText), {
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
  // 1 means that no file matches. Any other status means that it could not search everything.
  if (status !== 0 && status !== 1) return undefined
  const paths = output.split("\0").slice(0, -1)
  // Only with characters beyond the first Unicode plane does the order of strings differ from that of paths. The plain
  // sort is much faster.
  if (/[\ud800-\udfff]/.test(output)) paths.sort(comparePaths)
  else paths.sort()
  return paths.values().map((path) => joinPath(folder, path.startsWith("./") ? path.slice(2) : path))
}

/** Finds ripgrep in the PATH of this process; undefined if it is not installed. */
export function findRipgrep(): string | undefined {
  const name = process.platform === "win32" ? "rg.exe" : "rg"
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function argumentsOf({ pattern, hidden, glob }: RipgrepSearch, requiredText: string): string[] {
  const options = ["--no-config", "--no-ignore", "--no-messages", "--color=never", "--null", "--files-with-matches"]
  if (pattern.ignoreCase) options.push("--ignore-case")
  if (hidden) options.push("--hidden")
  if (glob !== undefined && isCommonGlob(glob)) options.push(`--glob=${glob}`)
  if (!hidden) options.push("--glob=!node_modules/")
  return [...options, "--fixed-strings", `--regexp=${requiredText}`, "--", "."]
}

// These globs mean the same to ripgrep. The caller applies all globs; passing them on only saves time.
function isCommonGlob(glob: string): boolean {
  return /^[\w.*{},-]+(?:\/[\w.*{},-]+)*$/.test(glob) && !/^\.\/|[^/]\*\*|\*\*[^/]/.test(glob)
}
