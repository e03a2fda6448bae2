/** Where files live: bytes by path. Every workspace keeps the same promises, whatever is behind it, so a run on a folder, in
 *  memory or on S3 behaves alike.
 *
 *  Paths are relative, with forward slashes: `notes/today.md`. `./notes//today.md` is the same path; an absolute path, `..`,
 *  a backslash and a control character are refused (`invalid-path`). Names are compared as they are written: case and
 *  the composition of accents count. Folders are implicit: a file makes its folders, and they go with their last file.
 *
 *  What fails is an `AgentError` that names the path, the cause and the cure. A failure is never told as absence. */
export interface Workspace {
  /** The folder on this machine, where a shell may run. Only where there is such a folder, and it may be written. */
  readonly root?: string | undefined

  /** Whether what is written ends with the process: a durable run then raises a warning. Default false. */
  readonly inMemory?: boolean | undefined

  /** The folders on this machine that writes can change: code of a skill is never run on the host from there. Default: `root` alone. */
  writable?(): readonly string[]

  /** The bytes of a file, or of a range of it; a range that reaches past the end is cut. They belong to the caller. Rejects with
   *  `not-found` when there is no such file, also when the path is a folder. */
  read(path: string, options?: ReadOptions): Promise<Uint8Array>

  /** Like `read`, in chunks, never holding the whole: all from one version of the file, the one at the first chunk. Nothing is
   *  opened before the first chunk is asked for, and whoever stops early leaves nothing open. */
  stream(path: string, options?: ReadOptions): AsyncIterable<Uint8Array>

  /** Makes or replaces a file, all or nothing: readers see the old bytes or the new ones, never a part, also after a crash, a
   *  failing source or an abort. Of two writes at once one is the last and wins whole. */
  write(path: string, data: FileData, options?: WriteOptions): Promise<FileInfo>

  /** What is known about a file; undefined when there is none, also when the path is a folder. */
  stat(path: string, options?: StopOptions): Promise<FileInfo | undefined>

  /** Every file below a folder, or of the whole workspace, by path in the order of code points. A folder that is not there has
   *  none. Files that come or go meanwhile may be told or not; the others are told once. */
  list(folder?: string, options?: ListOptions): AsyncIterable<FileInfo>

  /** Removes a file. Where there is none, nothing happens. */
  remove(path: string, options?: StopOptions): Promise<void>
}

/** The methods that every workspace has. */
export const workspaceMethods = ["read", "stream", "write", "stat", "list", "remove"] as const

/** The folders on this machine that writes through a workspace can change. */
export function writableFolders({ writable, root }: Workspace): readonly string[] {
  if (writable) return writable()
  return root === undefined ? [] : [root]
}

export interface FileInfo {
  /** From the workspace's own root, as `read` takes it. */
  path: string
  /** In bytes. */
  size: number
  /** In milliseconds, by the clock of whoever keeps the file. */
  modifiedAt: number
  /** Names this version of the file: another whenever the bytes are others. What `ifMatch` takes. */
  etag: string
}

/** A string is written as UTF-8. Chunks are read one by one, and only as fast as they can be written. */
export type FileData = Uint8Array | string | AsyncIterable<Uint8Array>

export interface StopOptions {
  signal?: AbortSignal | undefined
}

export interface ReadOptions extends StopOptions {
  /** The first byte. Default 0. */
  start?: number | undefined
  /** The byte after the last. Default: the end. */
  end?: number | undefined
}

export interface WriteOptions extends StopOptions {
  /** Adds to what is there, as one replacement of the whole: as atomic as any write, and as long as the file. Appends at once through one
   *  workspace all arrive. What is added is held in memory. */
  append?: boolean | undefined
  /** Writes only over this version; null: only where no file is yet. Otherwise rejects with a `ConflictError`, and nothing is changed. */
  ifMatch?: string | null | undefined
}

export interface ListOptions extends StopOptions {
  /** Which files, by their path below the folder: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and `[a-z]` choose. */
  glob?: string | undefined
}
