// A workspace in a local folder.
import { type BigIntStats, constants } from "node:fs"
import { type FileHandle, open, unlink } from "node:fs/promises"
import { resolve } from "node:path"
import { ConflictError } from "../core/errors.ts"
import { keyedSerialQueue } from "../core/serial.ts"
import { type ByteRange, collectData, throwIfAborted, toByteRange, toChunks } from "./file-data.ts"
import { compileGlob } from "./glob.ts"
import { toLocalError, undefinedOn } from "./local-errors.ts"
import { openPath } from "./local-folder.ts"
import { listFilesBelow } from "./local-list.ts"
import { createDraft, etagOf, removeEmptyFolders } from "./local-write.ts"
import { type FileInfo, type StopOptions, type Workspace, withKnownOptions } from "./workspace.ts"
import { checkIfMatch, conflictError, isFolderError, notFoundError, workspaceError } from "./workspace-errors.ts"
import { cleanFolder, cleanPath } from "./workspace-path.ts"

/** Files in a local folder, which is created with the first file. Nothing outside of it is read or written; links
 *  are followed only inside. `ifMatch` is exact within a process; `ifMatch: null` also between processes. */
export function localWorkspace(folder: string): Workspace {
  const root = resolve(folder)
  const inOrder = keyedSerialQueue()

  async function append(path: string, added: Uint8Array, ifMatch: string | null | undefined): Promise<FileInfo> {
    for (let attempt = 0; ; attempt++) {
      try {
        await using draft = await createDraft(root, path)
        checkIfMatch(path, ifMatch, draft.before ?? undefined)
        if (draft.before !== null) {
          await using opened = await openFile(root, path)
          if (etagOf(opened.stats) !== draft.before) throw conflictError(path, draft.before)
          for await (const piece of readPieces(opened.file, { start: 0, end: Infinity })) await draft.write(piece)
        }
        await draft.write(added)
        return infoOf(path, await draft.publish(draft.before))
      } catch (error) {
        // Another process wrote in between: read its version and try again.
        if (!(error instanceof ConflictError) || ifMatch !== undefined || attempt > 10) throw error
      }
    }
  }

  return withKnownOptions({
    root,

    async read(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      await using opened = await openFile(root, clean, options)
      const end = Math.min(range.end, Number(opened.stats.size))
      const bytes = new Uint8Array(Math.max(0, end - range.start))
      let filled = 0
      while (filled < bytes.length) {
        throwIfAborted(options.signal)
        const length = Math.min(bytes.length - filled, 2 ** 24)
        const { bytesRead } = await opened.file.read(bytes, filled, length, range.start + filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      return bytes.subarray(0, filled)
    },

    async *stream(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      await using opened = await openFile(root, clean, options)
      for await (const piece of readPieces(opened.file, range)) {
        yield piece
        throwIfAborted(options.signal)
      }
    },

    async write(path, data, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      if (options.append) {
        const added = await collectData(clean, data, options)
        return await inOrder(clean, () => append(clean, added, options.ifMatch))
      }
      await using draft = await createDraft(root, clean)
      checkIfMatch(clean, options.ifMatch, draft.before ?? undefined)
      for await (const chunk of toChunks(clean, data, options)) await draft.write(chunk)
      return infoOf(clean, await draft.publish(options.ifMatch))
    },

    async stat(path, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      await using openedPath = await openPath(root, clean)
      return openedPath?.stats?.isFile() ? infoOf(clean, openedPath.stats) : undefined
    },

    async *list(folder = "", options = {}) {
      const base = cleanFolder(folder)
      const glob = options.glob === undefined ? undefined : compileGlob(options.glob)
      throwIfAborted(options.signal)
      await using openedPath = await openPath(root, base === "" ? "." : `${base}/.`)
      if (!openedPath) return
      const walk = { base, glob, signal: options.signal }
      for await (const { path, stats } of listFilesBelow(openedPath.folder, "", walk)) yield infoOf(path, stats)
    },

    async remove(path, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      await using openedPath = await openPath(root, clean, { keepLink: true })
      if (!openedPath?.stats?.isFile() && !openedPath?.stats?.isSymbolicLink()) return
      await undefinedOn("ENOENT", clean, unlink(openedPath.folder.at(openedPath.name)))
      await removeEmptyFolders(openedPath.folders)
    },
  })
}

interface OpenFile extends AsyncDisposable {
  file: FileHandle
  stats: BigIntStats
}

async function openFile(root: string, path: string, { signal }: StopOptions = {}): Promise<OpenFile> {
  throwIfAborted(signal)
  await using openedPath = await openPath(root, path)
  if (!openedPath?.stats) throw notFoundError(path)
  if (!openedPath.stats.isFile()) throw notAFileError(path, openedPath.stats)
  const file = await open(openedPath.folder.at(openedPath.name), forReading).catch((error) => {
    throw toLocalError(error, path)
  })
  const stats = await file.stat({ bigint: true })
  if (stats.isFile()) return { file, stats, [Symbol.asyncDispose]: () => file.close() }
  await file.close()
  throw notAFileError(path, stats)
}

// Non-blocking, because the file could be replaced by a pipe right now.
const forReading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

function notAFileError(path: string, stats: BigIntStats) {
  if (stats.isDirectory()) return isFolderError(path)
  return workspaceError("not-found", path, `"${path}" is a pipe, a socket or a device. Only files can be read.`)
}

async function* readPieces(file: FileHandle, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let position = start; position < end; ) {
    const buffer = new Uint8Array(Math.min(end - position, 2 ** 18))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

function infoOf(path: string, stats: BigIntStats): FileInfo {
  const { size, mtimeNs } = stats
  return { path, sizeBytes: Number(size), modifiedAt: Number(mtimeNs / 1_000_000n), etag: etagOf(stats) }
}
