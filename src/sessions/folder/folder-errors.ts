// Maps errors of the file system to errors that name the archive and the cure.
import { AgentError } from "../../core/errors.ts"
import { isFullDisk } from "../../core/full-disk.ts"
import { noSpaceError, sqliteCodeOf, sqliteCodes } from "../../stores/store-errors.ts"

/** Returns the `AgentError` for an error of the file system; any other error is returned unchanged. */
export function folderError(error: unknown, name: string): unknown {
  const code = codeOf(error)
  if (error instanceof AgentError || code === undefined) return error
  // The lock file is one of SQLite's.
  if (isFullDisk(error) || sqliteCodeOf(error) === sqliteCodes.full) return noSpaceError(name, error)
  const isForbidden = ["EACCES", "EPERM", "EROFS"].includes(code)
  const why = error instanceof Error ? error.message : code
  const cure = isForbidden
    ? "Check who owns its folder and the mode, or keep it elsewhere."
    : "Check its folder and the disk, then try again."
  return new AgentError(`${name} is out of reach: ${why}. ${cure}`, {
    code: isForbidden ? "permission-denied" : "file-system",
    retryable: ["EMFILE", "ENFILE", "EIO", "EAGAIN"].includes(code),
    cause: error,
  })
}

export const restoreOrDeleteSession =
  "Restore it from a backup, or delete the session: deleteSession(archive, id). The id is the name of its folder."

/** Resolves to undefined if there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : undefined
}
