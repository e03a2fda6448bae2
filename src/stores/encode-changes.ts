// Checks keys and encodes changes, the same for all stores.
import { knownOptions } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { Json } from "../core/json.ts"
import type { Store, StoreChange, StorePut } from "./store.ts"
import { corruptError } from "./store-errors.ts"

/** A change in stored form: JSON as text, bytes unchanged. */
export type EncodedChange =
  | { type: "put"; key: string; value: string | Uint8Array }
  | { type: "append"; log: string; items: string[] }
  | { type: "delete"; key: string }

/** Checks and encodes the arguments of a commit before anything is changed. */
export function encodeChanges(...[changes, guard, options]: Parameters<Store["commit"]>): EncodedChange[] {
  if (guard) checkKey(knownOptions("store.commit()", guard, { key: true, ifRevision: true }).key)
  knownOptions("store.commit()", options, { evenIfFull: true })
  // Appending nothing creates no log.
  return changes.filter((change) => change.type !== "append" || change.items.length > 0).map(encodeChange)
}

/** Decodes a stored value. `where` names it in the error if it is damaged. */
export function decodeStored(stored: string | Uint8Array, where: string): Json | Uint8Array {
  if (typeof stored === "string") return parseStored(stored, where)
  if (stored instanceof Uint8Array) return stored
  throw corruptError(where, `a ${typeof stored} is stored there`, restoreOrDelete)
}

export function parseStored(text: string, where: string, cure = restoreOrDelete): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw corruptError(where, "what is stored there is no longer JSON", cure, error)
  }
}

const restoreOrDelete = "Restore it from a backup, or delete it."

/** Returns the key, or throws. All stores refuse keys that one of them could not hold. */
export function checkKey(key: string): string {
  const problem = keyProblem(key)
  if (problem === undefined) return key
  throw new ConfigError(`${JSON.stringify(key)?.slice(0, 80)} cannot be a key of a store: ${problem}.`)
}

export function checkPosition(from: number): number {
  if (Number.isSafeInteger(from) && from >= 0) return from
  throw new ConfigError(`A log cannot be read from position ${from}: positions are whole numbers from 0.`)
}

/** Sorts keys by code points, which is also the order of their UTF-8 bytes. */
export function sortByCodePoint(keys: Iterable<string>): string[] {
  return Array.from(keys, (key) => Buffer.from(key))
    .sort(Buffer.compare)
    .map(String)
}

function encodeChange(change: StoreChange): EncodedChange {
  switch (change.type) {
    case "put":
      return { type: "put", key: checkKey(change.key), value: encodeValue(change) }
    case "append": {
      const log = checkKey(change.log)
      return { type: "append", log, items: change.items.map((item) => toJsonText(item, log)) }
    }
    case "delete":
      return { type: "delete", key: checkKey(change.key) }
  }
}

function encodeValue({ key, value }: StorePut): string | Uint8Array {
  if (!(value instanceof Uint8Array)) return toJsonText(value, key)
  // Copied, because the writer may reuse its buffer. Of a view only the visible part is copied.
  return new Uint8Array(value)
}

function toJsonText(value: Json, key: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw notJsonError(key, String(error), error)
  }
  if (text === undefined)
    throw notJsonError(key, `it is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`)
  return text
}

function notJsonError(key: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError(`What was given for "${key}" cannot be stored: ${why}. Give JSON, or bytes as a value.`, {
    cause,
  })
}

function keyProblem(key: string): string | undefined {
  if (typeof key !== "string") return `it is a ${typeof key}`
  if (key === "") return "it is empty"
  if (!key.isWellFormed()) return "it has half a surrogate pair"
  if (Buffer.byteLength(key) > 1000) return "it is longer than 1,000 bytes"
  return undefined
}
