// The Workspace contract: files by path, in a folder, in memory or on S3.
import { knownOptions } from "../core/checks/check-options.ts"

/** Stores files: bytes by path. All workspaces keep the same promises, so a run behaves the same on a folder, in memory
 *  or on S3.
 *  Paths are relative, with forward slashes: `notes/today.md`. `./notes//today.md` is the same path. Absolute paths,
 *  `..`, backslashes and control characters are refused (`invalid-path`). Names are compared as written: case and the
 *  composition of accents matter. Folders are implicit: a file creates its folders, and they disappear with their last
 *  file.
 *  Failures are `AgentError`s that name the path, the cause and the fix. A failure is never reported as absence. */
export interface Workspace {
  /** The local folder, where a shell can run. Set only if there is one and it may be written. */
  readonly root?: string | undefined

  /** True if files are lost with the process; a durable run then raises a warning. Default false. */
  readonly inMemory?: boolean | undefined

  /** The local folders that writes can change. Code of skills in these folders is never run on the host. Default:
   *  `root` alone. */
  writableFolders?(): readonly string[]

  /** Returns the bytes of a file or of a range of it; a range past the end is cut. The bytes belong to the caller.
   *  Rejects with `not-found` if there is no such file, also if the path is a folder. */
  read(path: string, options?: ReadOptions): Promise<Uint8Array>

  /** Like `read`, in chunks, never holding the whole file. All chunks are of one version, that of the first chunk.
   *  Nothing is opened before the first chunk is requested, and stopping early leaves nothing open. */
  stream(path: string, options?: ReadOptions): AsyncIterable<Uint8Array>

  /** Creates or replaces a file atomically: readers see the old bytes or the new ones, never a part, even after a
   *  crash, a failing source or an abort. Of two concurrent writes, one is last and wins completely. */
  write(path: string, data: FileData, options?: WriteOptions): Promise<FileInfo>

  /** Describes a file; undefined if there is none, also if the path is a folder. */
  stat(path: string, options?: StopOptions): Promise<FileInfo | undefined>

  /** Lists all files below a folder, or of the whole workspace, ordered by code points of their paths. A missing
   *  folder has none. Files created or removed in the meantime may be missing; all others are listed once. */
  list(folder?: string, options?: ListOptions): AsyncIterable<FileInfo>

  /** Removes a file. Does nothing if there is none. */
  remove(path: string, options?: StopOptions): Promise<void>
}

/** The methods that every workspace has. */
export const workspaceMethods = ["read", "stream", "write", "stat", "list", "remove"] as const

/** Returns the local folders that writes through a workspace can change. */
export function writableFolders({ writableFolders, root }: Workspace): readonly string[] {
  if (writableFolders) return writableFolders()
  return root === undefined ? [] : [root]
}

/** Makes options that do not exist errors. Every workspace that does more than pass its options on is made with
 *  this. */
export function withKnownOptions({ read, stream, write, stat, list, remove, ...rest }: Workspace): Workspace {
  return {
    ...rest,
    read: async (path, options) => read(path, knownOptions("workspace.read()", options, readNames)),
    stream: (path, options) => stream(path, knownOptions("workspace.stream()", options, readNames)),
    write: async (path, data, options) => write(path, data, knownOptions("workspace.write()", options, writeNames)),
    stat: async (path, options) => stat(path, knownOptions("workspace.stat()", options, stopNames)),
    list: (folder, options) => list(folder, knownOptions("workspace.list()", options, listNames)),
    remove: async (path, options) => remove(path, knownOptions("workspace.remove()", options, stopNames)),
  }
}

const stopNames = { signal: true } as const
const readNames = { signal: true, start: true, end: true } as const
const writeNames = { signal: true, append: true, ifMatch: true } as const
const listNames = { signal: true, glob: true } as const

export interface FileInfo {
  /** Relative to the workspace, as `read` takes it. */
  path: string
  /** In bytes. */
  sizeBytes: number
  /** In milliseconds, by the clock of the storage. */
  modifiedAt: number
  /** Identifies this version of the file; different whenever the bytes differ. Used for `ifMatch`. */
  etag: string
}

/** A string is written as UTF-8. Chunks of a stream are read only as fast as they can be written. */
export type FileData = Uint8Array | string | AsyncIterable<Uint8Array>

export interface StopOptions {
  signal?: AbortSignal | undefined
}

export interface ReadOptions extends StopOptions {
  /** The first byte. Default 0. */
  start?: number | undefined
  /** The byte after the last one. Default: the end. */
  end?: number | undefined
}

export interface WriteOptions extends StopOptions {
  /** Appends by replacing the whole file: as atomic as any write, and as slow as the file is long. Concurrent
   *  appends through one workspace all take effect. The added data is held in memory. */
  append?: boolean | undefined
  /** Writes only if this is the current version; null: only if there is no file. Otherwise rejects with a
   *  `ConflictError` and changes nothing. */
  ifMatch?: string | null | undefined
}

export interface ListOptions extends StopOptions {
  /** Selects files by their path below the folder: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and
   *  `[a-z]` choose. */
  glob?: string | undefined
}
