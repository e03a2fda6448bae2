// Opens the SQLite file, runs transactions and translates SQLite's errors.
import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { setTimeout as after } from "node:timers/promises"
import { AgentError, ConfigError } from "../core/errors.ts"
import { createPrivateFileSync } from "../core/private-files.ts"
import { loadSqlite } from "./load-sqlite.ts"
import { prepareQueries, type SqliteQueries, schema } from "./sqlite-queries.ts"
import { busyError, closedError, corruptError, noSpaceError, sqliteCodeOf, sqliteCodes } from "./store-errors.ts"

export interface SqliteDatabase {
  queries: SqliteQueries
  /** Does the work as one transaction, in one turn of the event loop. Waits while another process writes. */
  transact<T>(kind: "read" | "write", work: () => T): Promise<T>
  /** Returns true if another connection has committed since the last call. */
  wasChangedByOthers(): boolean
  close(): void
}

interface DatabaseSettings {
  /** Names the store in errors. */
  name: string
  sync: boolean
  busyTimeoutMs: number
}

export async function openDatabase(path: string, settings: DatabaseSettings): Promise<SqliteDatabase> {
  const { name, sync, busyTimeoutMs } = settings
  const { DatabaseSync } = loadSqlite()
  const database = connect()

  function connect(): DatabaseSync {
    try {
      if (path.startsWith("file:")) throw new ConfigError(`sqliteStore: "${path}" is a URI. Give the path of a file.`)
      // SQLite gives its log and index files the mode of the database.
      if (path !== ":memory:") createPrivateFileSync(resolve(path))
      // SQLite itself waits only 5 ms, because that blocks this process; longer waits use a timer.
      return new DatabaseSync(path, { timeout: 5 })
    } catch (error) {
      throw sqliteCodeOf(error) === sqliteCodes.cannotOpen && isForbidden(path)
        ? forbiddenError(error, name)
        : sqliteError(error, name)
    }
  }

  /** Repeats the attempt until the file is not locked. */
  async function whenUnlocked<T>(attempt: () => T): Promise<T> {
    const start = performance.now()
    for (;;) {
      if (!database.isOpen) throw closedError(name)
      try {
        return attempt()
      } catch (error) {
        const waitedMs = Math.round(performance.now() - start)
        if (sqliteCodeOf(error) !== sqliteCodes.busy) throw sqliteError(error, name)
        if (waitedMs > busyTimeoutMs) throw busyError(name, waitedMs, error)
      }
      await after(2 + Math.random() * 10)
    }
  }

  try {
    await whenUnlocked(() => {
      const isNew = !hasOurSchema(database, path)
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync ? "FULL" : "NORMAL"}`)
      // Shrinks the write-ahead log after a large value.
      database.exec("PRAGMA journal_size_limit = 67108864")
      if (isNew) database.exec(`BEGIN IMMEDIATE; ${schema}; COMMIT`)
    })
  } catch (error) {
    database.close()
    throw error
  }

  const begin = { read: database.prepare("BEGIN"), write: database.prepare("BEGIN IMMEDIATE") }
  const commit = database.prepare("COMMIT")
  const version = database.prepare("PRAGMA data_version")
  let seen: unknown

  return {
    queries: prepareQueries(database),
    transact: (kind, work) =>
      whenUnlocked(() => {
        begin[kind].run()
        try {
          const result = work()
          commit.run()
          return result
        } catch (error) {
          if (database.isTransaction) database.exec("ROLLBACK")
          throw error
        }
      }),
    wasChangedByOthers() {
      if (!database.isOpen) return false
      const before = seen
      seen = version.get()?.data_version
      return before !== undefined && seen !== before
    },
    close() {
      database.close()
    },
  }
}

/** Returns false for an empty file; throws if it holds other tables or a newer format. */
function hasOurSchema(database: DatabaseSync, path: string): boolean {
  const { application_id: owner } = database.prepare("PRAGMA application_id").get() ?? {}
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {}
  const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() ?? {}
  if (tables === 0) return false
  if (owner !== applicationId)
    throw new ConfigError(`"${path}" holds tables of another program. Give the store a file of its own.`)
  if (Number(version) <= 1) return true
  throw new ConfigError(`"${path}" was made by a newer version of Karst (format ${version}). Update karst to open it.`)
}

function sqliteError(error: unknown, name: string): unknown {
  if (error instanceof AgentError) return error
  const primary = sqliteCodeOf(error)
  if (primary === sqliteCodes.corrupt || primary === sqliteCodes.notDatabase) {
    const what = `SQLite says "${(error as Error).message}"`
    return corruptError(
      name,
      what,
      "Restore it from a backup, or save what can be read with: sqlite3 <file> .recover",
      error,
    )
  }
  if (primary === sqliteCodes.full) return noSpaceError(name, error)
  const why = error instanceof Error ? error.message : String(error)
  if (primary === sqliteCodes.permission || primary === sqliteCodes.readOnly || isDenied(error))
    return forbiddenError(error, name)
  const message = `${name} is out of reach: ${why}. Check that its folder is there, has room, and may be written.`
  return new AgentError(message, { code: "file-system", cause: error, retryable: primary === sqliteCodes.inputOutput })
}

function forbiddenError(error: unknown, name: string): AgentError {
  const why = error instanceof Error ? error.message : String(error)
  const cure = "Check who owns the file and its folder, and their modes, or keep the store elsewhere."
  return new AgentError(`${name} may not be used: ${why}. ${cure}`, { code: "permission-denied", cause: error })
}

/** Returns true if the modes of a file forbid its use. SQLite does not report this, and opening the file to find out
 *  would release the locks of this process when it is closed. */
function isForbidden(path: string): boolean {
  try {
    const { mode, uid, gid } = statSync(path)
    const isGroup = gid === process.getegid?.() || process.getgroups?.().includes(gid)
    const allowed = uid === process.geteuid?.() ? mode >> 6 : isGroup ? mode >> 3 : mode
    return (allowed & 6) !== 6
  } catch (error) {
    return isDenied(error)
  }
}

function isDenied(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return code === "EACCES" || code === "EPERM" || code === "EROFS"
}

// "KRST" in the header of each database file.
const applicationId = 0x4b525354
