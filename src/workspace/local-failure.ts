import { AgentError } from "../core/errors.ts"
import { isFolder, notFound, workspaceError } from "./failure.ts"

/** What the file system said, as an error of ours. */
export function localFailure(error: unknown, path: string): unknown {
  const code = codeOf(error)
  if (error instanceof AgentError || code === undefined) return error
  if (code === "ENOENT" || code === "ENOTDIR") return notFound(path, error)
  if (code === "EISDIR") return isFolder(path)
  const known = troubles[code] ?? { as: "file-system", why: `the file system answered ${code}`, cure: "See the cause." }
  const options = { cause: error, retryable: known.retryable }
  return workspaceError(known.as, path, `"${path}" is out of reach: ${known.why}. ${known.cure}`, options)
}

/** Undefined for this one answer of the file system; any other failure is told as ours. */
export async function unless<T>(code: "ENOENT" | "EEXIST", path: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === code) return undefined
    throw localFailure(error, path)
  }
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" && !(error instanceof AgentError) ? code : undefined
}

interface Trouble {
  as: string
  why: string
  cure: string
  retryable?: boolean
}

const forbidden: Trouble = {
  as: "permission-denied",
  why: "the file system forbids it",
  cure: "Check who owns it and its mode, or work elsewhere.",
}
const full: Trouble = {
  as: "no-space",
  why: "the disk or the quota is full",
  cure: "Make room, then try again.",
  retryable: true,
}
const busy: Trouble = {
  as: "too-many-files",
  why: "too many files are open",
  cure: "Try again later, or raise the limit (ulimit -n).",
  retryable: true,
}
const tooLong: Trouble = {
  as: "invalid-path",
  why: "a name in it is too long for the file system",
  cure: "Use names of at most 255 bytes.",
}
const swapped: Trouble = {
  as: "changed",
  why: "it became a link while it was opened",
  cure: "Try again.",
  retryable: true,
}

const troubles: { [code: string]: Trouble } = {
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
