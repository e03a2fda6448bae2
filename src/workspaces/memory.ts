// A workspace in memory.
import { randomUUID } from "node:crypto"
import { type ByteRange, concat, copyBytes, throwIfAborted, toByteRange, toChunks } from "./file-data.ts"
import { compileGlob } from "./glob.ts"
import { type FileInfo, type Workspace, withKnownOptions } from "./workspace.ts"
import { checkIfMatch, isFolderError, notFoundError, pathTakenError } from "./workspace-errors.ts"
import { cleanFolder, cleanPath, comparePaths, parentFolders } from "./workspace-path.ts"

/** Files in memory, gone with the process. For tests, temporary work, and as the top of an overlay. */
export function memoryWorkspace(files: { [path: string]: string | Uint8Array } = {}): Workspace {
  const stored = new Map<string, MemoryFile>()
  // The number of files below each folder.
  const folders = new Map<string, number>()
  const origin = randomUUID()
  let version = 0

  function find(path: string): MemoryFile {
    const file = stored.get(path)
    if (file) return file
    throw folders.has(path) ? isFolderError(path) : notFoundError(path)
  }

  function count(path: string, change: 1 | -1): void {
    for (const folder of parentFolders(path)) {
      const files = (folders.get(folder) ?? 0) + change
      if (files === 0) folders.delete(folder)
      else folders.set(folder, files)
    }
  }

  function put(path: string, chunks: readonly Uint8Array[]): FileInfo {
    if (folders.has(path)) throw pathTakenError(path, path)
    const file = parentFolders(path).find((folder) => stored.has(folder))
    if (file !== undefined) throw pathTakenError(path, file)
    if (!stored.has(path)) count(path, 1)
    const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const info = { path, sizeBytes, modifiedAt: Date.now(), etag: `${origin}-${++version}` }
    stored.set(path, { chunks, info })
    return { ...info }
  }

  for (const [path, data] of Object.entries(files)) {
    put(cleanPath(path), [typeof data === "string" ? new TextEncoder().encode(data) : copyBytes(data)])
  }

  return withKnownOptions({
    inMemory: true,
    async read(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      throwIfAborted(options.signal)
      const pieces = [...piecesInRange(find(clean).chunks, range)]
      // A copy, so that callers cannot change the stored bytes.
      return pieces.length === 1 ? (pieces[0]?.slice() ?? concat([])) : concat(pieces)
    },

    async *stream(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      throwIfAborted(options.signal)
      for (const piece of piecesInRange(find(clean).chunks, range)) {
        yield piece.slice()
        throwIfAborted(options.signal)
      }
    },

    async write(path, data, options = {}) {
      const clean = cleanPath(path)
      const added: Uint8Array[] = []
      for await (const chunk of toChunks(clean, data, options)) added.push(copyBytes(chunk))
      const before = stored.get(clean)
      checkIfMatch(clean, options.ifMatch, before?.info.etag)
      return put(clean, options.append && before ? [...before.chunks, ...added] : added)
    },

    async stat(path, options = {}) {
      const file = stored.get(cleanPath(path))
      throwIfAborted(options.signal)
      return file && { ...file.info }
    },

    async *list(folder = "", options = {}) {
      const start = cleanFolder(folder) === "" ? "" : `${cleanFolder(folder)}/`
      const glob = options.glob === undefined ? undefined : compileGlob(options.glob)
      for (const path of [...stored.keys()].sort(comparePaths)) {
        throwIfAborted(options.signal)
        const file = stored.get(path)
        if (!file || !path.startsWith(start)) continue
        if (glob?.matches(path.slice(start.length)) ?? true) yield { ...file.info }
      }
    },

    async remove(path, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      if (stored.delete(clean)) count(clean, -1)
    },
  })
}

interface MemoryFile {
  chunks: readonly Uint8Array[]
  info: FileInfo
}

function* piecesInRange(chunks: readonly Uint8Array[], { start, end }: ByteRange): Generator<Uint8Array> {
  let offset = 0
  for (const chunk of chunks) {
    const piece = chunk.subarray(Math.max(0, start - offset), Math.max(0, end - offset))
    if (piece.length > 0) yield piece
    offset += chunk.length
    if (offset >= end) return
  }
}
