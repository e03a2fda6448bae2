import { checkOptions, mustBeAtLeast, mustBeBoolean, type OptionChecks } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { checkKey, checkPosition, decodeStored, encodeChanges, parseStored } from "./encode-changes.ts"
import { createLogNotifier, type LogCursor, pollForChanges, readCursor, watchCursor } from "./log-watch.ts"
import { createCommitBatcher } from "./sqlite-commits.ts"
import { openDatabase, type SqliteDatabase } from "./sqlite-database.ts"
import type { Store } from "./store.ts"
import { closedError, corruptError } from "./store-errors.ts"

export interface SqliteStoreOptions {
  /** Whether a commit is on the disk before it is acknowledged, so that it also outlives a power cut. Without it a
   *  commit takes a tenth of the time and outlives the end of the process, however sudden. Default true. */
  sync?: boolean | undefined
  /** How long to wait for another process that is writing. Default 10,000. */
  busyTimeoutMs?: number | undefined
}

const optionChecks: OptionChecks<SqliteStoreOptions> = { sync: mustBeBoolean, busyTimeoutMs: mustBeAtLeast(0) }

/** State in one SQLite file of this machine (`node:sqlite`), for any number of processes. Made at the first use. */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): Store {
  checkOptions("sqliteStore()", options, optionChecks)
  const { sync = true, busyTimeoutMs = 10_000 } = options
  // SQLite would take it for a database that is gone when it is closed.
  if (!path) throw new ConfigError('sqliteStore needs a path, such as "karst.db".')
  const name = `The store "${path}"`
  let opened: Promise<SqliteDatabase> | undefined
  let database: SqliteDatabase | undefined
  let closed = false
  const bell = createLogNotifier(pollForChanges(() => database?.wasChangedByOthers() ?? false, pollMs))

  const commits = createCommitBatcher(connected)

  function connected(): Promise<SqliteDatabase> {
    opened ??= openDatabase(path, { name, sync, busyTimeoutMs }).catch((error) => {
      // The cause may be mended, so the next use tries again.
      opened = undefined
      throw error
    })
    return opened
  }

  async function open(): Promise<SqliteDatabase> {
    if (closed) throw closedError(name)
    database = await connected()
    if (closed) throw closedError(name)
    return database
  }

  /** Pages are read whole at once: a statement left open would keep the file from shrinking. */
  function walk(log: string, from: number, isLive: boolean): LogCursor {
    checkKey(log)
    let at = checkPosition(from)
    let id: number | undefined
    let end: number | undefined
    return {
      async next() {
        const { transact, queries } = await open()
        return transact("read", () => {
          const found = queries.log(log)
          if (id !== undefined && found?.id !== id) return undefined
          id = found?.id
          end ??= isLive ? Infinity : (found?.length ?? 0)
          if (!found || at >= Math.min(end, found.length)) return []
          const items = queries.items(found.id, at, end)
          if (items.length === 0)
            throw corruptError(name, `the log "${log}" has no item ${at} of ${found.length}`, cure)
          at += items.length
          return items.map((item) => parseStored(item, `${name}, log "${log}"`))
        })
      },
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    bell.close()
    await commits.untilIdle()
    const database = await opened?.catch(() => undefined)
    database?.close()
  }

  return {
    async get(key) {
      checkKey(key)
      const { transact, queries } = await open()
      const found = await transact("read", () => queries.value(key))
      return found && { value: decodeStored(found.value, `${name}, key "${key}"`), revision: found.revision }
    },
    async commit(changes, guard) {
      const encoded = encodeChanges(changes)
      if (guard) checkKey(guard.key)
      await open()
      const revision = await commits.add(encoded, guard)
      for (const change of encoded) {
        if (change.type !== "put") bell.notify(change.type === "append" ? change.log : change.key)
      }
      return revision
    },
    async *keys(prefix) {
      const { transact, queries } = await open()
      for (let after = ""; ; ) {
        const page = await transact("read", () => queries.keys(prefix, after))
        for (const key of page) {
          if (!key.startsWith(prefix)) return
          yield key
        }
        const last = page.at(-1)
        if (last === undefined) return
        after = last
      }
    },
    async *read(log, from = 0) {
      yield* readCursor(walk(log, from, false))
    },
    async *watch(log, from, signal) {
      await open()
      yield* watchCursor(walk(log, from, true), bell.subscribe(log), signal, () => closed)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const cure = "Restore it from a backup, or save what can be read with: sqlite3 <file> .recover"

// One small question to SQLite each time, which reads no file.
const pollMs = 25
