// The error for a file that cannot be written because its disk is full.
import { AgentError } from "./errors.ts"

/** Returns true if the file system refused a write for lack of room. */
export function isFullDisk(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return code === "ENOSPC" || code === "EDQUOT"
}

/** Converts the error of a write to a full disk to an `AgentError` that names the path. Returns other errors
 *  unchanged. */
export function namedIfFull(error: unknown, path: string): unknown {
  if (!isFullDisk(error)) return error
  return new AgentError(`"${path}" cannot be written: the disk or the quota is full. Make room, then try again.`, {
    code: "no-space",
    retryable: true,
    cause: error,
  })
}
