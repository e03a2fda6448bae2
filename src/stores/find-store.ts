// Opens a store by its name.
import { redisStore } from "./redis-store.ts"
import { sqliteStore } from "./sqlite-store.ts"
import type { Store } from "./store.ts"
import { isRedisAddress, sqlitePath } from "./store-names.ts"

/** Returns undefined for a text that names no store. */
export function findStore(text: string | undefined, prefix?: string): Store | undefined {
  if (isRedisAddress(text)) return redisStore(text, { prefix })
  const path = sqlitePath(text)
  return path === undefined ? undefined : sqliteStore(path)
}
