// Sessions on disk. Each session is a folder with events.jsonl, recording.jsonl, snapshot.bin, artifacts/ and session.json.
// A commit replaces session.json last; that file says how much of each log counts, so a commit is stored whole or not at all.
import { constants } from "node:fs"
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { ConfigError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { makePrivateFolder, privateFileMode } from "../../core/private-files.ts"
import {
  checkKey,
  type EncodedChange,
  encodeChanges,
  parseStored,
  sortByCodePoint,
} from "../../stores/encode-changes.ts"
import type { Store, StoreEntry, StoreGuard } from "../../stores/store.ts"
import { checkGuard, closedError, corruptError } from "../../stores/store-errors.ts"
import { nameOfPath, pathOfName } from "./file-names.ts"
import { folderError, ifThere } from "./folder-errors.ts"
import { createFolderLock } from "./folder-lock.ts"

/** The members of a store that an archive uses. */
export type SessionStore = Pick<Store, "get" | "commit" | "keys" | "read" | "close">

/** The lock file of an archive folder. */
export const lockFile = ".lock"

/** Keeps the keys and logs of sessions (`sessions/<id>/…`) in a folder, for any number of processes of one machine. A commit
 *  is on the disk before it resolves. The folder is created by the first commit. */
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
        const encoded = encodeChanges(changes)
        return lock.hold(() => commitChanges(root, encoded, guard))
      }),
    async *keys(prefix) {
      yield* sortByCodePoint(await attempt(() => listKeys(root, prefix)))
    },
    async *read(log, from = 0) {
      const { directory, part } = locate(root, log)
      const lines = await attempt(() => readLog(directory, part))
      for (const [index, line] of lines.entries()) {
        if (index >= from) yield parseStored(line, `The log "${join(directory, `${part}.jsonl`)}", line ${index + 1},`)
      }
    },
    async close() {
      isClosed = true
      await lock.close()
    },
  }
}

/** The folder of a session in an archive folder. */
export function sessionDirectory(folder: string, id: string): string {
  return resolve(folder, "sessions", pathOfName(id))
}

/** The committed length of a log in bytes; undefined in a copy of the folder without session.json. Bytes after it belong to a
 *  commit that was never finished. */
export async function committedLength(directory: string, log: string): Promise<number | undefined> {
  const file = await readSessionFile(directory)
  return file && (file.logs[log] ?? 0)
}

async function readLog(directory: string, log: string): Promise<string[]> {
  const length = await committedLength(directory, log)
  if (!length) return []
  const path = join(directory, `${log}.jsonl`)
  const bytes = (await ifThere(readFile(path))) ?? Buffer.alloc(0)
  if (bytes.length < length) throw shortLogError(path, bytes.length, length)
  return String(bytes.subarray(0, length - 1)).split("\n")
}

/** The contents of session.json. */
interface SessionFile {
  key: string
  /** The commit that last wrote the session record. */
  revision: number
  /** The session record. */
  value?: Json
  /** The calls of the cycle under way. */
  calls?: Json
  /** The committed length of each log in bytes. */
  logs: { [log: string]: number }
  /** The file of a snapshot that was committed and perhaps not renamed to snapshot.bin yet. */
  draft?: string
}

interface Location {
  key: string
  directory: string
  /** The rest of the key: "session", "calls", "snapshot", "events", "recording" or "artifacts/<name>". */
  part: string
}

function locate(root: string, key: string): Location {
  const [, id, part] = /^sessions\/([^/]+)\/(.+)$/s.exec(checkKey(key)) ?? []
  if (id === undefined || part === undefined) throw new ConfigError(`"${key}" is not a key of a session.`)
  return { key, directory: sessionDirectory(root, id), part }
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

async function readArtifact(directory: string, part: string, key: string): Promise<Json | undefined> {
  const path = artifactPath(directory, part)
  const text = await ifThere(readFile(path, "utf8"))
  const artifact = text === undefined ? undefined : parseFile(path, text)
  if (artifact && artifact.key !== key) throw damagedFileError(path)
  return artifact?.value
}

async function commitChanges(root: string, changes: readonly EncodedChange[], guard: StoreGuard | undefined) {
  const [first] = changes
  if (!first) return 0
  const { directory, key } = locate(root, first.type === "append" ? first.log : first.key)
  const recordKey = `${key.split("/").slice(0, 2).join("/")}/session`
  const isDeleted = changes.some((change) => change.type === "delete" && change.key === recordKey)
  // A delete without a guard does not read session.json, so that a damaged session can be deleted.
  const before = isDeleted && !guard ? undefined : await readSessionFile(directory)
  if (guard) checkGuard(guard, before?.revision ?? 0)
  if (isDeleted) {
    // From the first of these on, the session is gone.
    await rm(join(directory, sessionFile), { force: true })
    await rm(directory, { recursive: true, force: true })
    return before?.revision ?? 0
  }
  if (before?.draft) await finishSnapshot(directory, before.draft)
  await makePrivateFolder(directory)
  const { next, writes } = applyChanges(root, changes, before ?? { key: recordKey, revision: 0, logs: {} })
  await commitSessionFile(directory, next, writes, !before)
  return next.revision
}

/** Starts to write logs, artifacts and the snapshot; returns these writes and the session.json that makes them count. */
function applyChanges(root: string, changes: readonly EncodedChange[], { draft: _, ...before }: SessionFile) {
  const next: SessionFile = { ...before, logs: { ...before.logs } }
  const writes: Promise<void>[] = []
  for (const change of changes) {
    if (change.type === "delete") continue
    const { directory, part, key } = locate(root, change.type === "append" ? change.log : change.key)
    if (change.type === "append") {
      const bytes = Buffer.from(change.items.map((item) => `${item}\n`).join(""))
      const from = before.logs[part] ?? 0
      next.logs[part] = from + bytes.length
      writes.push(appendAt(join(directory, `${part}.jsonl`), from, bytes))
    } else if (part === "session") {
      next.value = parseStored(String(change.value), key)
      next.revision = before.revision + 1
    } else if (part === "calls") {
      next.calls = parseStored(String(change.value), key)
    } else if (part === "snapshot") {
      next.draft = `snapshot.${before.revision + 1}.draft`
      writes.push(writeFileSynced(join(directory, next.draft), change.value))
    } else {
      const text = `{"key":${JSON.stringify(key)},"value":${change.value}}\n`
      writes.push(writeArtifact(artifactPath(directory, part), text))
    }
  }
  return { next, writes }
}

/** Replaces session.json once everything that it refers to is on the disk. */
async function commitSessionFile(directory: string, next: SessionFile, writes: Promise<void>[], isNew: boolean) {
  const draft = join(directory, `${sessionFile}.draft`)
  // All writes end before the lock is released, also if one of them fails.
  const results = await Promise.allSettled([...writes, writeFileSynced(draft, `${JSON.stringify(next)}\n`)])
  const failed = results.find((result) => result.status === "rejected")
  if (failed) {
    await rm(draft, { force: true })
    throw failed.reason
  }
  await rename(draft, join(directory, sessionFile))
  await syncFolder(directory)
  if (isNew) await Promise.all([dirname(directory), dirname(dirname(directory))].map(syncFolder))
  if (next.draft) await finishSnapshot(directory, next.draft)
}

async function finishSnapshot(directory: string, draft: string): Promise<void> {
  await ifThere(rename(join(directory, draft), join(directory, snapshotFile)))
}

/** Writes at a position of a log and removes what an unfinished commit left behind it. */
async function appendAt(path: string, from: number, bytes: Buffer): Promise<void> {
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT, privateFileMode)
  const { size } = await file.stat()
  if (size < from) throw shortLogError(path, size, from)
  if (size > from) await file.truncate(from)
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, from + done)).bytesWritten
  }
  await file.datasync()
}

async function writeArtifact(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path))
  await writeFileSynced(`${path}.draft`, text)
  await rename(`${path}.draft`, path)
}

async function writeFileSynced(path: string, data: string | Uint8Array): Promise<void> {
  await using file = await open(path, "w", privateFileMode)
  await file.writeFile(data)
  await file.datasync()
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r")
  await folder.sync()
}

async function readSessionFile(directory: string): Promise<SessionFile | undefined> {
  const path = join(directory, sessionFile)
  const text = await ifThere(readFile(path, "utf8"))
  if (text === undefined) return undefined
  const { key, revision, logs, ...rest } = parseFile(path, text)
  if (!Number.isSafeInteger(revision) || typeof logs !== "object" || logs === null) throw damagedFileError(path)
  // The writer of this module wrote it; the session record is checked by its reader.
  return { key, revision: Number(revision), logs: logs as SessionFile["logs"], ...(rest as Partial<SessionFile>) }
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

function artifactPath(directory: string, part: string): string {
  return join(directory, `${pathOfName(part)}.json`)
}

function parseFile(path: string, text: string): { key: string; [name: string]: Json | undefined } {
  const read: unknown = parseJson(path, text)
  if (typeof read === "object" && read !== null && "key" in read && typeof read.key === "string") {
    return { ...read, key: read.key }
  }
  throw damagedFileError(path)
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw damagedFileError(path, error)
  }
}

function damagedFileError(path: string, cause?: unknown) {
  return corruptError(
    `The value "${path}"`,
    "it is not as it was written",
    "Restore it from a backup, or delete its key.",
    cause,
  )
}

function shortLogError(path: string, size: number, length: number) {
  return corruptError(
    `The log "${path}"`,
    `it has ${size} bytes, and ${length} were written`,
    "Restore it from a backup, or delete it.",
  )
}

const sessionFile = "session.json"
const snapshotFile = "snapshot.bin"
