// The errors that all stores throw.
import { AgentError, ConflictError } from "../core/errors.ts"
import type { StoreGuard } from "./store.ts"

/** `store` names the store in the message, such as `The store "karst.db"`. */
export function closedError(store: string): AgentError {
  return new AgentError(`${store} is closed. Open it again.`, { code: "closed" })
}

export function checkGuard(guard: StoreGuard, found: number): void {
  if (found !== guard.ifRevision) throw conflictError(guard, found)
}

export function conflictError({ key, ifRevision }: StoreGuard, found: number): ConflictError {
  const now = found === 0 ? "is not there" : `is at revision ${found}`
  const wanted = ifRevision === 0 ? "it must not exist yet" : `revision ${ifRevision} was asked for`
  return new ConflictError(`"${key}" ${now}, and ${wanted}. Somebody else changed it first: read it again.`, {
    details: { key, revision: found },
  })
}

export function corruptError(store: string, what: string, cure: string, cause?: unknown): AgentError {
  return new AgentError(`${store} is damaged: ${what}. Nothing was changed. ${cure}`, { code: "corrupt", cause })
}

export function noSpaceError(store: string, cause: unknown): AgentError {
  return new AgentError(`${store} has no room left, so the commit was not made. Make room, then try again.`, {
    code: "no-space",
    retryable: true,
    cause,
  })
}

export function busyError(store: string, waitedMs: number, cause?: unknown): AgentError {
  const message = `${store} was held by another process for ${waitedMs} ms. If it is stopped or hangs, end it; then try again.`
  return new AgentError(message, { code: "busy", retryable: true, cause })
}

/** The primary result code of an error of SQLite. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined
  return typeof code === "number" ? code & 0xff : undefined
}

export const sqliteCodes = {
  permission: 3,
  busy: 5,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notDatabase: 26,
}
