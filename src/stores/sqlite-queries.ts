// The schema and the SQL statements of the SQLite store.
import type { DatabaseSync } from "node:sqlite"
import type { EncodedChange } from "./encode-changes.ts"

/** The prepared statements of the store. */
export interface SqliteQueries {
  value(key: string): { value: string | Uint8Array; revision: number } | undefined
  /** 0 if there is no such value. */
  revision(key: string): number
  /** A page of the keys that are greater than `after` and not less than the prefix. */
  keys(prefix: string, after: string): string[]
  log(name: string): { id: number; length: number } | undefined
  /** A page of the items from one position up to another, at least one item. */
  items(log: number, from: number, to: number): string[]
  nextRevision(): number
  apply(change: EncodedChange, revision: number): void
}

// The id of an item combines the id of its log and its position, so that a log lies together in the file and needs no
// index. Ids of logs are never reused, so that a watcher notices when a log was replaced.
export const schema = `
  PRAGMA application_id = 0x4b525354;
  PRAGMA user_version = 1;
  CREATE TABLE IF NOT EXISTS revisions (last INTEGER NOT NULL);
  INSERT INTO revisions SELECT 0 WHERE NOT EXISTS (SELECT * FROM revisions);
  CREATE TABLE IF NOT EXISTS entries (key TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, value BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS logs (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, value TEXT NOT NULL)`

export function prepareQueries(database: DatabaseSync): SqliteQueries {
  const value = database.prepare("SELECT value, revision FROM entries WHERE key = ?")
  const revision = database.prepare("SELECT revision FROM entries WHERE key = ?")
  const keys = database.prepare("SELECT key FROM entries WHERE key >= ? AND key > ? ORDER BY key LIMIT 500")
  const log = database.prepare("SELECT id, length FROM logs WHERE name = ?")
  const items = database.prepare(
    "SELECT id & 4294967295 AS position, value FROM items WHERE id >= (?1 << 32) + ?2 AND id < (?1 << 32) + ?3 ORDER BY id",
  )
  const nextRevision = database.prepare("UPDATE revisions SET last = last + 1 RETURNING last")
  const put = database.prepare(
    `INSERT INTO entries (key, revision, value) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, value = excluded.value`,
  )
  const lengthen = database.prepare(
    `INSERT INTO logs (name, length) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET length = length + excluded.length RETURNING id, length`,
  )
  const append = database.prepare("INSERT INTO items (id, value) VALUES ((? << 32) + ?, ?)")
  const removeEntry = database.prepare("DELETE FROM entries WHERE key = ?")
  const removeItems = database.prepare(
    "DELETE FROM items WHERE id >= (SELECT id << 32 FROM logs WHERE name = ?1) AND id < (SELECT (id + 1) << 32 FROM logs WHERE name = ?1)",
  )
  const removeLog = database.prepare("DELETE FROM logs WHERE name = ?")

  return {
    value(key) {
      const row = value.get(key)
      return (
        row && {
          value: typeof row.value === "string" ? row.value : (row.value as Uint8Array),
          revision: Number(row.revision),
        }
      )
    },
    revision: (key) => Number(revision.get(key)?.revision ?? 0),
    keys: (prefix, after) => keys.all(prefix, after).map((row) => String(row.key)),
    log(name) {
      const row = log.get(name)
      return row && { id: Number(row.id), length: Number(row.length) }
    },
    items(id, from, to) {
      const page: string[] = []
      let size = 0
      for (const row of items.iterate(id, from, Math.min(to, lastPosition))) {
        // The rest of the log is missing.
        if (Number(row.position) !== from + page.length) break
        const text = String(row.value)
        page.push(text)
        size += text.length
        if (size > pageSize) break
      }
      return page
    },
    nextRevision: () => Number(nextRevision.get()?.last),
    apply(change, revision) {
      switch (change.type) {
        case "put":
          put.run(change.key, revision, change.value)
          return
        case "append": {
          const { id, length } = lengthen.get(change.log, change.items.length) ?? {}
          let position = Number(length) - change.items.length
          for (const item of change.items) append.run(Number(id), position++, item)
          return
        }
        case "delete":
          removeEntry.run(change.key)
          removeItems.run(change.key)
          removeLog.run(change.key)
      }
    },
  }
}

const lastPosition = 2 ** 32 - 1
const pageSize = 1_000_000
