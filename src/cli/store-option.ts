// Opens the store and the queue that the options --store, --backend, --redis, --queue and --prefix name.
import { existsSync } from "node:fs"
import { hideInAddresses } from "../core/text/hide-secrets.ts"
import type { Backend } from "../engine/backends/backend.ts"
import { bullmqBackend } from "../engine/backends/bullmq.ts"
import { inlineBackend } from "../engine/backends/inline.ts"
import { isAddress } from "../sessions/archive-source-check.ts"
import { redisStore } from "../stores/redis-store.ts"
import { sqliteStore } from "../stores/sqlite-store.ts"
import type { Store } from "../stores/store.ts"
import type { Input } from "./command.ts"
import { quoteShellWord } from "./shell-words.ts"
import type { queueOptions } from "./table/worker.ts"
import { UsageError } from "./usage-error.ts"

/** The values of the options of the store and the queue. */
export type QueueValues = Input<typeof queueOptions>["values"]

export type QueueKind = "bullmq" | "inline"

export function queueKind({ backend, store }: QueueValues): QueueKind {
  return backend ?? (isRedis(store) ? "bullmq" : "inline")
}

export function openBackend(kind: QueueKind, { store, redis, queue, prefix }: QueueValues): Backend {
  if (kind === "inline") return inlineBackend()
  const url = redis ?? (isRedis(store) ? store : undefined)
  if (!url) throw new UsageError("--backend bullmq needs to know where Redis is: --redis redis://localhost:6379")
  return bullmqBackend({ url, queue, prefix })
}

/** Throws for a file or folder that does not exist. Commands that only read a store would create it empty. */
export function requireExistingStore(text: string | undefined): void {
  if (text === undefined || text === "off" || isRedis(text)) return
  // An address of another kind is refused when it is opened.
  if (isAddress(text) && sqlitePath(text) === undefined) return
  const path = sqlitePath(text)
  if (path === ":memory:" || existsSync(path ?? text)) return
  throw new UsageError(`--store: there is no ${path === undefined ? `folder ${text}` : `file ${path}`}.`)
}

export function openStore(text: string | undefined, prefix: string | undefined): Store {
  const store = findStore(text, prefix)
  if (store) return store
  throw new UsageError(
    `--store: ${text === undefined ? "there is none" : `"${storeName(text)}" is not a store`}. Say redis://host:6379 or sqlite:karst.db.`,
  )
}

/** Returns undefined for a text that names no store. */
export function findStore(text: string | undefined, prefix?: string): Store | undefined {
  if (isRedis(text)) return redisStore(text, { prefix })
  const path = sqlitePath(text)
  return path === undefined ? undefined : sqliteStore(path)
}

function sqlitePath(text: string | undefined): string | undefined {
  return /^sqlite:(.+)$/.exec(text ?? "")?.[1]
}

function isRedis(text: string | undefined): text is string {
  return /^rediss?:\/\//.test(text ?? "")
}

/** The option for messages, without a password. */
export function storeOptionText(store: string | undefined): string {
  return ` --store ${store === undefined || hideInAddresses(store) !== store ? "…" : quoteShellWord(store)}`
}

/** The name of a store for messages, without a password. */
export function storeName(store: string): string {
  return hideInAddresses(store)
}
