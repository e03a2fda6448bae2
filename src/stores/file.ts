import { readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { checkOptions, mustBeAtLeast, mustBeBoolean, type OptionChecks } from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import { checkKey, checkPosition, encodeChanges, sortByCodePoint } from "./encode-changes.ts"
import { ownFolder } from "./file-disk.ts"
import { fileFailure, ifThere } from "./file-failure.ts"
import { createJournal, isAlike } from "./file-journal.ts"
import { createLock } from "./file-lock.ts"
import { walkLines } from "./file-log.ts"
import { fileOf, isCut, keyOf } from "./file-names.ts"
import { planSteps } from "./file-plan.ts"
import { endings, headOf, readRevision, readValue } from "./file-values.ts"
import { createLogNotifier, type LogCursor, pollForChanges, readCursor, watchCursor } from "./log-watch.ts"
import type { Store } from "./store.ts"
import { checkGuard, closedError } from "./store-errors.ts"

export interface FileStoreOptions {
  /** Whether a commit is on the disk before it is acknowledged, so that it also outlives a power cut. Without it a
   *  commit is quicker and outlives the end of the process, however sudden. Default true. */
  sync?: boolean | undefined
  /** How long to wait for another process that is writing. Default 10,000. */
  busyTimeoutMs?: number | undefined
}

const optionChecks: OptionChecks<FileStoreOptions> = { sync: mustBeBoolean, busyTimeoutMs: mustBeAtLeast(0) }

/** State in a folder, to be read by people and programs: the value `a/b` is `a/b.json` (bytes: `a/b.bin`), the log `a/b` is
 *  `a/b.jsonl`, a line for each item. For any number of processes of one machine. The folder is made at the first commit. */
export function fileStore(folder: string, options: FileStoreOptions = {}): Store {
  checkOptions("fileStore()", options, optionChecks)
  const { sync = true, busyTimeoutMs = 10_000 } = options
  if (!folder) throw new ConfigError('fileStore needs a folder, such as ".karst".')
  const root = resolve(folder)
  const name = `The store "${folder}"`
  const lock = createLock(join(root, ownFolder, "lock"), name, busyTimeoutMs)
  const journal = createJournal({ root, name, sync, lastRevision: () => lastRevision(root) })
  let closed = false
  let hasCommitted = false
  let seen = { file: 0, size: 0 }
  const bell = createLogNotifier(pollForChanges(wasChanged, pollMs))

  function open(): void {
    if (closed) throw closedError(name)
  }

  function wasChanged(): boolean {
    const before = seen
    seen = journal.look()
    return !isAlike(before, seen)
  }

  /** Reads without the lock when nobody commits meanwhile: then nothing half done was seen. */
  async function consistently<T>(work: () => T | Promise<T>): Promise<T> {
    open()
    try {
      for (let attempt = 0; attempt < 3; attempt++) {
        const before = journal.look()
        if (!journal.isDone(before)) break
        const outcome = await settled(work)
        if (isAlike(before, journal.look())) return outcome()
      }
      return await lock.hold(async () => {
        await journal.recover()
        return work()
      })
    } catch (error) {
      throw fileFailure(error, name)
    }
  }

  function walk(log: string, from: number, isLive: boolean): LogCursor {
    const lines = walkLines(join(root, fileOf(checkKey(log)) + endings.log), checkPosition(from), isLive)
    return {
      async next() {
        const found = await consistently(lines.look)
        found?.keep()
        return found?.items
      },
      close: lines.close,
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    bell.close()
    // Of what is deleted no copy stays in the journal. What cannot be done now the next commit does.
    if (hasCommitted) await lock.hold(() => journal.recover().then(journal.shorten)).catch(() => {})
    await lock.close()
    journal.close()
  }

  return {
    get: async (key) => consistently(() => readValue(root, checkKey(key))),
    async commit(changes, guard) {
      open()
      const encoded = encodeChanges(changes)
      if (guard) checkKey(guard.key)
      hasCommitted = true
      try {
        const revision = await lock.hold(async () => {
          const revision = (await journal.recover()) + 1
          if (guard) checkGuard(guard, readRevision(root, guard.key))
          await journal.commit(await planSteps(root, encoded, revision, sync))
          return revision
        })
        for (const change of encoded) {
          if (change.type !== "put") bell.notify(change.type === "append" ? change.log : change.key)
        }
        return revision
      } catch (error) {
        throw fileFailure(error, name)
      }
    },
    async *keys(prefix) {
      yield* sortByCodePoint(await consistently(() => keysIn(root, prefix)))
    },
    async *read(log, from = 0) {
      yield* readCursor(walk(log, from, false))
    },
    async *watch(log, from, signal) {
      open()
      yield* watchCursor(walk(log, from, true), bell.subscribe(log), signal, () => closed)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** How it ended, to be told later: as its result or as its error. */
async function settled<T>(work: () => T | Promise<T>): Promise<() => T> {
  try {
    const result = await work()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function keysIn(root: string, prefix: string): string[] {
  const folder = prefix.includes("/") ? fileOf(prefix.slice(0, prefix.lastIndexOf("/"))) : ""
  const keys = valueFiles(root, folder).map((file) => {
    const plain = file.slice(0, file.lastIndexOf("."))
    return isCut(plain) ? headOf(join(root, file)).key : keyOf(plain)
  })
  return keys.filter((key) => key?.startsWith(prefix)) as string[]
}

function valueFiles(root: string, folder: string): string[] {
  const found = ifThere(() => readdirSync(join(root, folder), { withFileTypes: true })) ?? []
  return found.flatMap((entry) => {
    const file = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === ownFolder ? [] : valueFiles(root, file)
    return file.endsWith(endings.json) || file.endsWith(endings.bytes) ? [file] : []
  })
}

// Only for a folder that lost its journal, by being copied without it: revisions never go back.
function lastRevision(root: string): number {
  return Math.max(0, ...valueFiles(root, "").map((file) => headOf(join(root, file)).revision))
}

const pollMs = 25
