// The errors of workspaces.
import { AgentError, type AgentErrorOptions, ConflictError } from "../core/errors.ts"

/** An error of a workspace; docs/workspaces.md lists the codes. */
export function workspaceError(
  code: string,
  path: string,
  message: string,
  options: AgentErrorOptions = {},
): AgentError {
  return new AgentError(message, { ...options, code, details: { ...options.details, path } })
}

export function notFoundError(path: string, cause?: unknown): AgentError {
  return workspaceError("not-found", path, `There is no file "${path}". List the folder to see what there is.`, {
    cause,
  })
}

export function isFolderError(path: string): AgentError {
  return workspaceError("not-found", path, `"${path}" is a folder, not a file. List it to see what there is.`)
}

/** A folder is where a file should go, or a file where a folder is needed. */
export function pathTakenError(path: string, other: string): AgentError {
  const what = other === path ? "a folder of that name is there" : `"${other}" is a file, not a folder`
  return workspaceError("path-taken", path, `"${path}" cannot be written: ${what}. Choose another path.`)
}

export function conflictError(path: string, ifMatch: string | null, cause?: unknown): ConflictError {
  const why = ifMatch === null ? "it exists already" : "it was changed or removed meanwhile"
  return new ConflictError(`"${path}" was not written: ${why}. Read it again, then decide.`, {
    details: { path },
    cause,
  })
}

/** Throws a `ConflictError` if `ifMatch` is not the current version. */
export function checkIfMatch(path: string, ifMatch: string | null | undefined, etag: string | undefined): void {
  if (ifMatch === undefined) return
  if (ifMatch !== (etag ?? null)) throw conflictError(path, ifMatch)
}
