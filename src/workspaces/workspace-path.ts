// Checks, normalises and compares paths in a workspace.
import { AgentError } from "../core/errors.ts"

/** Normalises a path: `./a//b` is `a/b`. Refuses everything that some file system could interpret differently. */
export function cleanPath(path: string): string {
  const clean = cleanFolder(path)
  if (clean === "") throw invalidPathError(path, "is empty")
  return clean
}

/** Like `cleanPath`, for a folder: the workspace itself is "". */
export function cleanFolder(path: string): string {
  const problem = pathProblem(path)
  if (problem) throw invalidPathError(path, problem)
  return pathNames(path).join("/")
}

/** Returns true if a path that was found can also be requested. */
export function isCleanPath(path: string): boolean {
  return path !== "" && pathProblem(path) === undefined && cleanFolder(path) === path
}

export function invalidPathError(path: string, problem: string): AgentError {
  const cure = 'Write it relative to the workspace, with forward slashes, such as "notes/today.md".'
  return new AgentError(`${JSON.stringify(path)} is not a path in a workspace: it ${problem}. ${cure}`, {
    code: "invalid-path",
    details: { path: String(path) },
  })
}

export function joinPath(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`
}

/** The folders that contain a file, the innermost last. */
export function parentFolders(path: string): string[] {
  const names = path.split("/")
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join("/"))
}

/** Compares by code points, which is also the order of UTF-8 bytes and of S3. */
export function comparePaths(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let index = 0; index < shorter; index++) {
    const difference = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

export function pathNames(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".")
}

function pathProblem(path: string): string | undefined {
  if (typeof path !== "string") return "is not a string"
  if (path.startsWith("/") || /^[A-Za-z]:$/.test(pathNames(path)[0] ?? "")) return "is absolute"
  if (path.includes("\\")) return "has a backslash"
  if (/[\u0000-\u001f\u007f]/.test(path)) return "has a control character"
  if (!path.isWellFormed()) return "is not valid Unicode"
  if (path.split("/").includes("..")) return 'has ".."'
  return undefined
}

// A surrogate belongs to a code point above U+FFFF, so it sorts after U+E000 to U+FFFF.
function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit < 0xe000
  return isSurrogate ? unit + 0x10000 : unit
}
