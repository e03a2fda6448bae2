import { AgentError } from "../core/errors.ts"
import { noSpaceError } from "./store-errors.ts"

/** What the file system said, as an error of ours. */
export function fileFailure(error: unknown, name: string): unknown {
  const code = codeOf(error)
  if (error instanceof AgentError || code === undefined) return error
  if (code === "ENOSPC" || code === "EDQUOT") return noSpaceError(name, error)
  const isForbidden = ["EACCES", "EPERM", "EROFS"].includes(code)
  const why = error instanceof Error ? error.message : code
  const cure = isForbidden ? "Check who owns its folder and the mode, or keep the store elsewhere." : "See the cause."
  return new AgentError(`${name} is out of reach: ${why}. ${cure}`, {
    code: isForbidden ? "permission-denied" : "file-system",
    retryable: ["EMFILE", "ENFILE", "EIO", "EAGAIN"].includes(code),
    cause: error,
  })
}

/** Undefined where there is no such file. */
export function ifThere<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return code === "ENOENT" || code === "ENOTDIR"
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : undefined
}
