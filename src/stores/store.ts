// The store contract: revisioned values and append-only logs, changed by one atomic commit.
import type { Json } from "../core/json.ts"

/** Where state lives: revisioned values and append-only logs, changed together by one atomic commit. Stores stay
 *  primitive: leases, claims and retention are written once, above them.
 *  Names of values and of logs are apart; each is any text of 1 to 1,000 bytes of UTF-8. What the medium refuses is an
 *  `AgentError` whose `retryable` says whether the same may work later; after `close` it is one of code `closed`. */
export interface Store extends AsyncDisposable {
  /** The value of now, the caller's own copy. A value that cannot be read is an error, never an absence. */
  get(key: string): Promise<StoreEntry | undefined>
  /** Applies every change or none, in their order, and gives the revision they were made at, greater than any before.
   *  With a guard that no longer holds nothing is changed and a `ConflictError` is thrown. A reader that sees one of
   *  the changes sees all of them. What is not JSON is refused before anything is changed. */
  commit(changes: readonly StoreChange[], guard?: StoreGuard, options?: CommitOptions): Promise<number>
  /** Keys of values that begin so, in the order of code points. */
  keys(prefix: string): AsyncIterable<string>
  /** What was appended to a log, from that position on; a log that was never written is empty. */
  read(log: string, from?: number): AsyncIterable<Json>
  /** Like `read`, and then what is appended, by whichever process, as it comes; each item once, in order. Waits for a
   *  log that is not there yet. Ends when the signal fires, when the log is deleted, and when the store is closed. */
  watch?(log: string, from: number, signal: AbortSignal): AsyncIterable<Json>
  /** Lets go of everything; a second time is fine. */
  close(): Promise<void>
}

export interface CommitOptions {
  /** The commit ends or removes something, so it is made even where the medium keeps a reserve and has only that
   *  left. */
  evenIfFull?: boolean | undefined
}

export interface StoreEntry {
  value: Json | Uint8Array
  /** The commit that wrote it. */
  revision: number
}

export type StoreChange = StorePut | StoreAppend | StoreDelete

export interface StorePut {
  type: "put"
  key: string
  value: Json | Uint8Array
}

export interface StoreAppend {
  type: "append"
  log: string
  items: readonly Json[]
}

/** Removes the value and the log of this name, those that there are. A log begins anew at position 0. */
export interface StoreDelete {
  type: "delete"
  key: string
}

/** The key must still have this revision; 0 means that it must not exist. */
export interface StoreGuard {
  key: string
  ifRevision: number
}
