import type { Json } from "../core/json.ts"

/** Where state lives: revisioned values and append-only logs, changed together by one atomic commit. Stores stay
 *  primitive: leases, claims and retention are written once, above them. */
export interface Store extends AsyncDisposable {
  get(key: string): Promise<Entry | undefined>
  /** Applies every change or none, and gives the revision they were made at, greater than any before. With a guard that
   *  no longer holds nothing is changed and a `ConflictError` is thrown. */
  commit(changes: readonly Change[], guard?: Guard): Promise<number>
  /** Keys of values that begin so, in order of code units. */
  keys(prefix: string): AsyncIterable<string>
  /** What was appended to a log, from that position on; a log that was never written is empty. */
  read(log: string, from?: number): AsyncIterable<Json>
  close(): Promise<void>
}

export interface Entry {
  value: Json | Uint8Array
  /** The commit that wrote it. */
  revision: number
}

export type Change = Put | Append | Delete

export interface Put {
  type: "put"
  key: string
  value: Json | Uint8Array
}

export interface Append {
  type: "append"
  log: string
  items: readonly Json[]
}

/** Removes a value, or a whole log. */
export interface Delete {
  type: "delete"
  key: string
}

/** The key must still have this revision; 0 means that it must not exist. */
export interface Guard {
  key: string
  ifRevision: number
}
