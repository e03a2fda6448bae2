import { statSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { setTimeout as after } from "node:timers/promises"
import { createPrivateFileSync } from "../core/private-files.ts"
import { busyError } from "./store-errors.ts"

export interface FileLock {
  /** Does the work while nobody else, in this or another process, does work under this lock. First come, first served
   *  within a process. */
  hold<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A lock that ends with the process that holds it, however it ends: the operating system's own, which Node reaches
 *  through SQLite. Nothing is ever stale, so nothing is ever broken by force. There is nothing in the file. */
export function createLock(file: string, name: string, busyTimeoutMs: number): FileLock {
  let database: DatabaseSync | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function connect(): Promise<DatabaseSync> {
    const { DatabaseSync } = await import("node:sqlite")
    createPrivateFileSync(file)
    return new DatabaseSync(file, { timeout: 0 })
  }

  async function acquire(): Promise<DatabaseSync> {
    database ??= await connect()
    const start = performance.now()
    for (;;) {
      try {
        // Locking an empty file would begin to write it, each time.
        if (statSync(file).size === 0) database.exec("PRAGMA user_version = 1")
        database.exec("BEGIN EXCLUSIVE")
        return database
      } catch (error) {
        const waitedMs = Math.round(performance.now() - start)
        if (!isBusy(error)) throw error
        if (waitedMs > busyTimeoutMs) throw busyError(name, waitedMs, error)
      }
      await after(1 + Math.random() * 4)
    }
  }

  return {
    hold(work) {
      const result = last.then(async () => {
        const held = await acquire()
        try {
          return await work()
        } finally {
          held.exec("ROLLBACK")
        }
      })
      last = result.catch(() => {})
      return result
    },
    async close() {
      await last
      database?.close()
      database = undefined
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === 5
}
