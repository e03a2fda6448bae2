// A workspace that shows one workspace on top of another.
import { AgentError } from "../core/errors.ts"
import { keyedSerialQueue } from "../core/serial.ts"
import { toChunks } from "./file-data.ts"
import type { FileData, FileInfo, ListOptions, StopOptions, Workspace, WriteOptions } from "./workspace.ts"
import { withKnownOptions, writableFolders } from "./workspace.ts"
import { checkIfMatch, conflictError, notFoundError, pathTakenError } from "./workspace-errors.ts"
import { cleanPath, comparePaths, parentFolders } from "./workspace-path.ts"

/** Files of `top`, and those of `base` that `top` does not have. Writes go to `top`; `base` is never changed.
 *  Removed files are hidden for as long as this overlay exists. It has no `root`, because no folder contains what it
 *  shows. */
export function overlayWorkspace(base: Workspace, top: Workspace): Workspace {
  const removed = new Set<string>()
  const inOrder = keyedSerialQueue()

  async function stat(path: string, options: StopOptions = {}): Promise<FileInfo | undefined> {
    return (await top.stat(path, options)) ?? (removed.has(path) ? undefined : await base.stat(path, options))
  }

  // Neither workspace notices if a file of one has the path of a folder of the other.
  async function refuseTaken(path: string): Promise<void> {
    for (const folder of parentFolders(path)) if (await stat(folder)) throw pathTakenError(path, folder)
    for await (const _ of list(path)) throw pathTakenError(path, path)
  }

  async function write(path: string, data: FileData, options: WriteOptions): Promise<FileInfo> {
    const { ifMatch, append, signal } = options
    const above = await top.stat(path, { signal })
    const below = above || removed.has(path) ? undefined : await base.stat(path, { signal })
    checkIfMatch(path, ifMatch, (above ?? below)?.etag)
    if (above) return await top.write(path, data, options)
    if (!below) await refuseTaken(path)
    const whole = append && below ? appended(path, below, data, { signal }) : data
    const info = await top.write(path, whole, { signal, ...(ifMatch !== undefined && { ifMatch: null }) })
    removed.delete(path)
    return info
  }

  async function* appended(path: string, { etag }: FileInfo, data: FileData, options: StopOptions) {
    yield* base.stream(path, options)
    if ((await base.stat(path, options))?.etag !== etag) throw conflictError(path, etag)
    yield* toChunks(path, data, options)
  }

  async function* list(folder?: string, options?: ListOptions): AsyncGenerator<FileInfo> {
    const [upper, lower] = [createListReader(top.list(folder, options)), createListReader(base.list(folder, options))]
    try {
      let [above, below] = [await upper.next(), await lower.next()]
      while (above || below) {
        const order = !above ? 1 : !below ? -1 : comparePaths(above.path, below.path)
        if (above && order <= 0) yield above
        if (below && order > 0 && !removed.has(below.path)) yield below
        if (order <= 0) above = await upper.next()
        if (order >= 0) below = await lower.next()
      }
    } finally {
      await upper.stop()
      await lower.stop()
    }
  }

  return withKnownOptions({
    ...(top.inMemory && { inMemory: true }),
    writableFolders: () => writableFolders(top),
    async read(path, options) {
      const clean = cleanPath(path)
      try {
        return await top.read(clean, options)
      } catch (error) {
        if (!isNotFound(error)) throw error
        if (removed.has(clean)) throw notFoundError(clean)
        return await base.read(clean, options)
      }
    },
    async *stream(path, options) {
      const clean = cleanPath(path)
      try {
        yield* top.stream(clean, options)
      } catch (error) {
        if (!isNotFound(error)) throw error
        if (removed.has(clean)) throw notFoundError(clean)
        yield* base.stream(clean, options)
      }
    },
    async write(path, data, options = {}) {
      const clean = cleanPath(path)
      return await inOrder(clean, () => write(clean, data, options))
    },
    stat: async (path, options) => stat(cleanPath(path), options),
    list,
    async remove(path, options) {
      const clean = cleanPath(path)
      await inOrder(clean, async () => {
        if (await base.stat(clean, options)) removed.add(clean)
        await top.remove(clean, options)
      })
    },
  })
}

function isNotFound(error: unknown): boolean {
  return error instanceof AgentError && error.code === "not-found"
}

function createListReader(files: AsyncIterable<FileInfo>) {
  const iterator = files[Symbol.asyncIterator]()
  return {
    async next(): Promise<FileInfo | undefined> {
      const { done, value } = await iterator.next()
      return done ? undefined : value
    },
    stop: async () => void (await iterator.return?.()),
  }
}
