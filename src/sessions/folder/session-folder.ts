// Sessions on disk. Each session is a folder with events.jsonl, recording.jsonl, snapshot.bin, artifacts/ and
// session.json. A commit replaces session.json last; that file says how much of each log counts, so a commit is stored
// whole or not at all.
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import { encodeChanges, parseStored, sortByCodePoint } from "../../stores/encode-changes.ts"
import type { Store, StoreEntry } from "../../stores/store.ts"
import { closedError } from "../../stores/store-errors.ts"
import { commitChanges } from "./commit-session.ts"
import { nameOfPath } from "./file-names.ts"
import { folderError, ifThere, restoreOrDeleteSession } from "./folder-errors.ts"
import { createFolderLock } from "./folder-lock.ts"
import type { Location } from "./session-file.ts"
import { locate, parseFile, readArtifact, readLog, readSessionFile, sessionFile, snapshotFile } from "./session-file.ts"

/** The members of a store that an archive uses. */
export type SessionStore = Pick<Store, "get" | "commit" | "keys" | "read" | "close">

export const lockFile = ".lock"

/** Keeps the keys and logs of sessions (`sessions/<id>/…`) in a folder, for any number of processes of one machine. A
 *  commit is on the disk before it resolves. The folder is created by the first commit. */
export function openSessionFolder(folder: string): SessionStore {
  if (!folder) throw new ConfigError('An archive needs a folder, such as ".karst".')
  const root = resolve(folder)
  const name = `The archive "${folder}"`
  const lock = createFolderLock(join(root, lockFile), name)
  let isClosed = false

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw closedError(name)
    try {
      return await work()
    } catch (error) {
      throw folderError(error, name)
    }
  }

  return {
    get: (key) => attempt(() => readValue(locate(root, key))),
    commit: (changes, guard) =>
      attempt(() => {
        const encoded = encodeChanges(changes, guard)
        return lock.hold(() => commitChanges(root, encoded, guard))
      }),
    async *keys(prefix) {
      yield* sortByCodePoint(await attempt(() => listKeys(root, prefix)))
    },
    async *read(log, from = 0) {
      const { directory, part } = locate(root, log)
      const lines = await attempt(() => readLog(directory, part))
      for (const [index, line] of lines.entries()) {
        const where = `The log "${join(directory, `${part}.jsonl`)}", line ${index + 1},`
        if (index >= from) yield parseStored(line, where, restoreOrDeleteSession)
      }
    },
    async close() {
      isClosed = true
      await lock.close()
    },
  }
}

async function readValue({ directory, part, key }: Location): Promise<StoreEntry | undefined> {
  const file = await readSessionFile(directory)
  if (!file) return undefined
  const { revision } = file
  if (part === "snapshot") {
    const draft = file.draft && (await ifThere(readFile(join(directory, file.draft))))
    const bytes = draft || (await ifThere(readFile(join(directory, snapshotFile))))
    return bytes && { value: new Uint8Array(bytes), revision }
  }
  const value =
    part === "session" ? file.value : part === "calls" ? file.calls : await readArtifact(directory, part, key)
  return value === undefined ? undefined : { value, revision }
}

async function listKeys(root: string, prefix: string): Promise<string[]> {
  if (prefix === "sessions/") {
    const folders = (await ifThere(readdir(join(root, "sessions")))) ?? []
    const keys = folders.map(async (folder) => {
      const path = join(root, "sessions", folder, sessionFile)
      if (!(await ifThere(stat(path)))) return []
      const id = nameOfPath(folder)
      return [id === undefined ? parseFile(path, await readFile(path, "utf8")).key : `sessions/${id}/session`]
    })
    return (await Promise.all(keys)).flat()
  }
  const { directory, part } = locate(root, `${prefix}x`)
  const base = join(directory, dirname(part))
  const files = (await ifThere(readdir(base, { recursive: true }))) ?? []
  const keys = files
    .filter((file) => file.endsWith(".json"))
    .map(async (file) => {
      const path = join(base, file)
      const name = nameOfPath(file.slice(0, -".json".length).replaceAll("\\", "/"))
      return name === undefined ? parseFile(path, await readFile(path, "utf8")).key : `${prefix}${name}`
    })
  return await Promise.all(keys)
}
