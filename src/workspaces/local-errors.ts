// Converts errors of the file system to AgentErrors.
import { AgentError } from "../core/errors.ts"
import { isFolderError, notFoundError, workspaceError } from "./workspace-errors.ts"

/** Converts an error of the file system, which has a code, to an `AgentError`. Returns other errors unchanged. */
export function toLocalError(error: unknown, path: string): unknown {
  const code = errnoOf(error)
  if (error instanceof AgentError || code === undefined) return error
  if (code === "ENOENT" || code === "ENOTDIR") return notFoundError(path, error)
  if (code === "EISDIR") return isFolderError(path)
  const known = fileSystemProblems[code] ?? {
    as: "file-system",
    why: `the file system answered ${code}`,
    cure: "See the cause.",
  }
  const options = { cause: error, retryable: known.retryable }
  return workspaceError(known.as, path, `"${path}" is out of reach: ${known.why}. ${known.cure}`, options)
}

/** Awaits `work`. Returns undefined if it fails with this code; converts other errors. */
export async function undefinedOn<T>(
  code: "ENOENT" | "EEXIST",
  path: string,
  work: Promise<T>,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (errnoOf(error) === code) return undefined
    throw toLocalError(error, path)
  }
}

export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" && !(error instanceof AgentError) ? code : undefined
}

interface FileSystemProblem {
  as: string
  why: string
  cure: string
  retryable?: boolean
}

const forbidden: FileSystemProblem = {
  as: "permission-denied",
  why: "the file system forbids it",
  cure: "Check who owns it and its mode, or work elsewhere.",
}
const full: FileSystemProblem = {
  as: "no-space",
  why: "the disk or the quota is full",
  cure: "Make room, then try again.",
  retryable: true,
}
const busy: FileSystemProblem = {
  as: "too-many-files",
  why: "too many files are open",
  cure: "Try again later, or raise the limit (ulimit -n).",
  retryable: true,
}
const tooLong: FileSystemProblem = {
  as: "invalid-path",
  why: "a name in it is too long for the file system",
  cure: "Use names of at most 255 bytes.",
}
const swapped: FileSystemProblem = {
  as: "changed",
  why: "it became a link while it was opened",
  cure: "Try again.",
  retryable: true,
}

const fileSystemProblems: { [code: string]: FileSystemProblem } = {
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: { ...forbidden, as: "read-only", why: "it is on a read-only file system", cure: "Work elsewhere." },
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: busy,
  ENFILE: busy,
  ENAMETOOLONG: tooLong,
  ELOOP: swapped,
}
