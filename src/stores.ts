// karst/stores: where durable runs and sessions are stored.

export { memoryStore } from "./stores/memory-store.ts"
export { type RedisClient, type RedisStoreOptions, redisStore } from "./stores/redis-store.ts"
export { type SqliteStoreOptions, sqliteStore } from "./stores/sqlite-store.ts"
export type { Store, StoreAppend, StoreChange, StoreDelete, StoreEntry, StoreGuard, StorePut } from "./stores/store.ts"
