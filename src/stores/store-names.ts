// The names of stores, as options, environment variables and configuration files write them: redis://host:6379 and
// sqlite:karst.db. A program passes the store itself.
import { hideInAddresses } from "../core/text/hide-secrets.ts"

export function isStoreName(text: string): boolean {
  return isRedisAddress(text) || sqlitePath(text) !== undefined
}

/** The path in `sqlite:<path>`; undefined for another text. */
export function sqlitePath(text: string | undefined): string | undefined {
  return /^sqlite:(.+)$/.exec(text ?? "")?.[1]
}

export function isRedisAddress(text: string | undefined): text is string {
  return /^rediss?:\/\//.test(text ?? "")
}

/** The name of a store for messages, without a password. */
export function storeName(store: string): string {
  return hideInAddresses(store)
}
