// Opens the store and the queue that the options --store, --backend, --redis, --queue and --prefix name.
import { existsSync } from "node:fs"
import { hideInAddresses } from "../core/text/hide-secrets.ts"
import type { Backend } from "../engine/backends/backend.ts"
import { bullmqBackend } from "../engine/backends/bullmq.ts"
import { inlineBackend } from "../engine/backends/inline.ts"
import { findStore } from "../stores/find-store.ts"
import type { Store } from "../stores/store.ts"
import { isRedisAddress, sqlitePath } from "../stores/store-names.ts"
import type { Input } from "./command.ts"
import { quoteShellWord } from "./shell-words.ts"
import type { queueOptions } from "./table/worker.ts"
import { UsageError } from "./usage-error.ts"

/** The values of the options of the store and the queue. */
export type QueueValues = Input<typeof queueOptions>["values"]

export type QueueKind = "bullmq" | "inline"

export function queueKind({ backend, store }: QueueValues): QueueKind {
  return backend ?? (isRedisAddress(store) ? "bullmq" : "inline")
}

export function openBackend(kind: QueueKind, { store, redis, queue, prefix }: QueueValues): Backend {
  if (kind === "inline") return inlineBackend()
  const url = redis ?? (isRedisAddress(store) ? store : undefined)
  if (!url) throw new UsageError("--backend bullmq needs to know where Redis is: --redis redis://localhost:6379")
  return bullmqBackend({ url, queue, prefix })
}

/** Throws for a file or folder that does not exist. Commands that only read a store would create it empty. */
export function requireExistingStore(text: string | undefined): void {
  if (text === undefined || text === "off" || isRedisAddress(text)) return
  const path = sqlitePath(text)
  if (path === ":memory:" || existsSync(path ?? text)) return
  throw new UsageError(`--store: there is no ${path === undefined ? `folder ${text}` : `file ${path}`}.`)
}

export function openStore(text: string | undefined, prefix: string | undefined): Store {
  const store = findStore(text, prefix)
  if (store) return store
  if (text === undefined)
    throw new UsageError(
      "--store is missing. Name the store of the runs: --store sqlite:karst.db or redis://host:6379.",
    )
  const file = /^[\w./-]+$/.test(text) ? text : "karst.db"
  throw new UsageError(`--store: "${text}" is not a store. Say sqlite:${file} for a file, or redis://host:6379.`)
}

/** The option for messages, without a password. */
export function storeOptionText(store: string | undefined): string {
  return ` --store ${store === undefined || hideInAddresses(store) !== store ? "…" : quoteShellWord(store)}`
}
