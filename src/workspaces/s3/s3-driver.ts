// The S3 workspace itself.
import { ConflictError } from "../../core/errors.ts"
import { keyedSerialQueue } from "../../core/serial.ts"
import { type ByteRange, collectData, concatStream, throwIfAborted, toByteRange, toChunks } from "../file-data.ts"
import { compileGlob } from "../glob.ts"
import type { FileData, FileInfo, StopOptions, Workspace, WriteOptions } from "../workspace.ts"
import { checkIfMatch } from "../workspace-errors.ts"
import { cleanFolder, cleanPath, isCleanPath } from "../workspace-path.ts"
import { createS3Client } from "./s3-client.ts"
import type { S3Settings } from "./s3-options.ts"
import { createS3Reader, undefinedIfMissing } from "./s3-read.ts"
import { createS3Uploader } from "./s3-upload.ts"

export function createS3Workspace(settings: S3Settings): Workspace {
  const { prefix } = settings
  const client = createS3Client(settings)
  const reader = createS3Reader(client, settings)
  const uploader = createS3Uploader(client, settings)
  const inOrder = keyedSerialQueue()

  async function replace(path: string, data: FileData, { ifMatch, signal }: WriteOptions): Promise<FileInfo> {
    const target = { path, key: prefix + path, ifMatch, signal }
    const isInMemory = typeof data === "string" || data instanceof Uint8Array
    if (isInMemory) return await uploader.put(target, await collectData(path, data, { signal }))
    return await uploader.putStream(target, toChunks(path, data, { signal }))
  }

  async function append(path: string, added: Uint8Array, { ifMatch, signal }: WriteOptions): Promise<FileInfo> {
    for (let attempt = 0; ; attempt++) {
      const before = await reader.stat(path, { signal })
      checkIfMatch(path, ifMatch, before?.etag)
      const target = { path, key: prefix + path, ifMatch: before?.etag ?? null, signal }
      try {
        if (!before) return await uploader.put(target, added)
        return await uploader.putStream(target, appended(before, added, { signal }))
      } catch (error) {
        // Someone else wrote in between: read that version and try again.
        if (!(error instanceof ConflictError) || !error.retryable || ifMatch !== undefined || attempt > 10) throw error
      }
    }
  }

  async function* appended({ path, etag }: FileInfo, added: Uint8Array, options: StopOptions) {
    const { pieces } = await reader.openVersion(path, wholeFile, options, etag)
    yield* pieces
    yield added
  }

  return {
    async read(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      throwIfAborted(options.signal)
      const { size, pieces } = await reader.openVersion(clean, range, options)
      return await concatStream(pieces, size === undefined ? undefined : Math.min(size, range.end - range.start))
    },

    async *stream(path, options = {}) {
      const clean = cleanPath(path)
      const range = toByteRange(clean, options)
      throwIfAborted(options.signal)
      const { pieces } = await reader.openVersion(clean, range, options)
      for await (const piece of pieces) {
        yield piece
        throwIfAborted(options.signal)
      }
    },

    async write(path, data, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      if (options.append) {
        const added = await collectData(clean, data, options)
        return await inOrder(clean, () => append(clean, added, options))
      }
      if (options.ifMatch === undefined) return await replace(clean, data, options)
      return await inOrder(clean, async () => {
        checkIfMatch(clean, options.ifMatch, (await reader.stat(clean, options))?.etag)
        return await replace(clean, data, options)
      })
    },

    async stat(path, options = {}) {
      const clean = cleanPath(path)
      throwIfAborted(options.signal)
      return await reader.stat(clean, options)
    },

    async *list(folder = "", options = {}) {
      const base = cleanFolder(folder)
      const start = prefix + (base === "" ? "" : `${base}/`)
      const glob = options.glob === undefined ? undefined : compileGlob(options.glob)
      throwIfAborted(options.signal)
      for await (const object of reader.listObjects(start + (glob?.prefix ?? ""), base || ".", options)) {
        const { path: key } = object
        // Other programs may store keys that are not paths, such as those with a trailing slash that represent folders.
        if (!isCleanPath(key) || !(glob?.matches(key.slice(start.length)) ?? true)) continue
        yield { ...object, path: key.slice(prefix.length) }
      }
    },

    async remove(path, { signal } = {}) {
      const clean = cleanPath(path)
      throwIfAborted(signal)
      await client.sendForText({ method: "DELETE", path: clean, key: prefix + clean, signal }).catch(undefinedIfMissing)
    },
  }
}

const wholeFile: ByteRange = { start: 0, end: Infinity }
