// A lock between processes, for the commits of a session folder.
import { statSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { attempt } from "../../core/attempt.ts"
import { createPrivateFileSync } from "../../core/private-files.ts"
import { keyedSerialQueue } from "../../core/serial.ts"
import { loadSqlite } from "../../stores/load-sqlite.ts"
import { busyError, corruptError, sqliteCodeOf, sqliteCodes } from "../../stores/store-errors.ts"

/** Uses the lock that SQLite takes from the operating system. It ends with the process that holds it, so a lock is
 *  never stale and never has to be broken. The file itself stays empty but for SQLite's header. */
export function createFolderLock(file: string, name: string) {
  const inOrder = keyedSerialQueue()
  let database: DatabaseSync | undefined

  async function connect(): Promise<DatabaseSync> {
    const { DatabaseSync } = loadSqlite()
    createPrivateFileSync(file)
    return new DatabaseSync(file, { timeout: 0 })
  }

  async function acquire(): Promise<DatabaseSync> {
    database ??= await connect()
    const start = performance.now()
    for (;;) {
      try {
        // Without a header, SQLite would begin to write the file each time it is locked.
        if (statSync(file).size === 0) database.exec("PRAGMA user_version = 1")
        database.exec("BEGIN EXCLUSIVE")
        return database
      } catch (error) {
        const waitedMs = Math.round(performance.now() - start)
        if (sqliteCodeOf(error) !== sqliteCodes.busy) throw error
        if (waitedMs > busyTimeoutMs) throw busyError(name, waitedMs, error)
      }
      await sleep(1 + Math.random() * 4)
    }
  }

  function rethrowWithCure(error: unknown): never {
    const isFolder = attempt(() => statSync(file).isDirectory()) ?? false
    if (!isFolder && ![sqliteCodes.corrupt, sqliteCodes.notDatabase].includes(sqliteCodeOf(error) ?? 0)) throw error
    // The next attempt opens the file anew, perhaps after it was deleted.
    database?.close()
    database = undefined
    const what = isFolder ? "it is a folder" : "it is not a file of SQLite"
    throw corruptError(`The lock file "${file}"`, what, "Delete it; the next commit makes a new one.", error)
  }

  return {
    /** Does the work while no other holder, in this process or another, has the lock. First come, first served within a
     *  process. */
    hold: <T>(work: () => Promise<T>): Promise<T> =>
      inOrder(file, async () => {
        const held = await acquire().catch(rethrowWithCure)
        try {
          return await work()
        } finally {
          held.exec("ROLLBACK")
        }
      }),
    /** Waits for the current holder, then closes the lock file. */
    close: (): Promise<void> =>
      inOrder(file, async () => {
        database?.close()
        database = undefined
      }),
  }
}

const busyTimeoutMs = 10_000
