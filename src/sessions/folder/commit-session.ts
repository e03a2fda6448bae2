// Commits changes to a session's folder: logs, artifacts and the snapshot first, session.json last.
import { constants } from "node:fs"
import { open, rename, rm, stat, truncate } from "node:fs/promises"
import { dirname, join } from "node:path"
import { makePrivateFolder, privateFileMode } from "../../core/private-files.ts"
import { type EncodedChange, parseStored } from "../../stores/encode-changes.ts"
import type { StoreGuard } from "../../stores/store.ts"
import { checkGuard } from "../../stores/store-errors.ts"
import { ifThere } from "./folder-errors.ts"
import type { SessionFile } from "./session-file.ts"
import { artifactPath, locate, readSessionFile, sessionFile, shortLogError, snapshotFile } from "./session-file.ts"

/** Commits changes of one session and returns the revision of its record. The caller holds the lock of the archive. */
export async function commitChanges(
  root: string,
  changes: readonly EncodedChange[],
  guard: StoreGuard | undefined,
): Promise<number> {
  const [first] = changes
  const anyKey = guard?.key ?? (first?.type === "append" ? first.log : first?.key)
  if (anyKey === undefined) return 0
  const { directory, key } = locate(root, anyKey)
  const recordKey = `${key.split("/").slice(0, 2).join("/")}/session`
  const isDeleted = changes.some((change) => change.type === "delete" && change.key === recordKey)
  // A delete without a guard does not read session.json, so that a damaged session can be deleted.
  const before = isDeleted && !guard ? undefined : await readSessionFile(directory)
  if (guard) checkGuard(guard, before?.revision ?? 0)
  if (!first) return before?.revision ?? 0
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

/** A write that has started and does not count before session.json refers to it. */
interface Write {
  done: Promise<void>
  undo(): Promise<void>
  /** Gives a file its name, once all writes are done. */
  finish?(): Promise<void>
}

/** Starts to write logs, artifacts and the snapshot; returns these writes and the session.json that makes them
 *  count. */
function applyChanges(root: string, changes: readonly EncodedChange[], { draft: _, ...before }: SessionFile) {
  const next: SessionFile = { ...before, logs: { ...before.logs } }
  const writes: Write[] = []
  for (const change of changes) {
    if (change.type === "delete") continue
    const { directory, part, key } = locate(root, change.type === "append" ? change.log : change.key)
    if (change.type === "append") {
      const bytes = Buffer.from(change.items.map((item) => `${item}\n`).join(""))
      const from = before.logs[part] ?? 0
      next.logs[part] = from + bytes.length
      const path = join(directory, `${part}.jsonl`)
      writes.push({ done: appendAt(path, from, bytes), undo: () => cutLog(path, from) })
    } else if (part === "session") {
      next.value = parseStored(String(change.value), key)
      next.revision = before.revision + 1
    } else if (part === "calls") {
      next.calls = parseStored(String(change.value), key)
    } else if (part === "snapshot") {
      next.draft = `snapshot.${before.revision + 1}.draft`
      writes.push(writeDraft(join(directory, next.draft), change.value))
    } else {
      const text = `{"key":${JSON.stringify(key)},"value":${change.value}}\n`
      const path = artifactPath(directory, part)
      writes.push({
        ...writeDraft(`${path}.draft`, text, makePrivateFolder(dirname(path))),
        finish: () => rename(`${path}.draft`, path),
      })
    }
  }
  return { next, writes }
}

/** Replaces session.json once everything that it refers to is on the disk. */
async function commitSessionFile(directory: string, next: SessionFile, writes: Write[], isNew: boolean) {
  const draft = join(directory, `${sessionFile}.draft`)
  writes.push(writeDraft(draft, `${JSON.stringify(next)}\n`))
  // All writes end before the lock is released, also if one of them fails.
  const results = await Promise.allSettled(writes.map(({ done }) => done))
  const failed = results.find((result) => result.status === "rejected")
  if (failed) {
    await Promise.allSettled(writes.map(({ undo }) => undo()))
    throw failed.reason
  }
  for (const { finish } of writes) await finish?.()
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

/** Removes what follows a position of a log. */
async function cutLog(path: string, from: number): Promise<void> {
  if (from === 0) await rm(path, { force: true })
  else if ((await stat(path)).size > from) await truncate(path, from)
}

function writeDraft(path: string, data: string | Uint8Array, folder?: Promise<unknown>): Write {
  return {
    done: (folder ?? Promise.resolve()).then(() => writeFileSynced(path, data)),
    undo: () => rm(path, { force: true }),
  }
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
