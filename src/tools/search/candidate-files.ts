// Chooses the files that a search reads, and reads them in batches.
import { join } from "node:path"
import { AgentError, isAbortError } from "../../core/errors.ts"
import { isDraftName } from "../../workspaces/local-write.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import { isCleanPath } from "../../workspaces/workspace-path.ts"
import { createFileFilter, isHidden, toWorkspaceGlob } from "../files/file-filter.ts"
import type { FileBytes } from "./matcher.ts"
import { filesByRipgrep } from "./ripgrep.ts"
import type { SearchPattern } from "./search-pattern.ts"

export interface SearchScope {
  workspace: Workspace
  /** A clean path; "" is the workspace itself. */
  folder: string
  glob: string | undefined
  extensions: readonly string[] | undefined
  hidden: boolean
  signal: AbortSignal
}

/** A file that may contain a match. */
export interface CandidateFile {
  path: string
  /** Set if it is known without asking the workspace. */
  sizeBytes?: number | undefined
}

/** Yields the files that may contain a match, ordered by path: those that ripgrep names, or else all that fit the
 *  scope. The results of the search are the same either way. */
export async function* candidateFiles(
  scope: SearchScope,
  pattern: SearchPattern,
  ripgrep: string | undefined,
): AsyncGenerator<CandidateFile> {
  const { workspace, folder, glob, extensions, hidden, signal } = scope
  const isChosen = createFileFilter({ glob, hidden })
  const isMeant = (path: string) => {
    const below = folder === "" ? path : path.slice(folder.length + 1)
    return isChosen(below) && (!extensions || extensions.some((extension) => path.endsWith(`.${extension}`)))
  }
  const paths = ripgrep === undefined ? undefined : await namedByRipgrep(scope, pattern, ripgrep)
  if (!paths) {
    for await (const info of workspace.list(folder, { glob: toWorkspaceGlob(glob), signal }))
      if (isMeant(info.path)) yield info
    return
  }
  for (const path of paths) {
    const isFile = isCleanPath(path) && !isDraftName(path.slice(path.lastIndexOf("/") + 1))
    if (isFile && isMeant(path)) yield { path }
  }
}

/** A file that could not be searched, and the reason. */
export interface UnsearchedFile {
  path: string
  why: string
}

/** Reads files and yields them in order: small files in batches, large files one at a time. */
export async function* readInBatches(
  files: AsyncIterable<CandidateFile>,
  { workspace, signal }: Pick<SearchScope, "workspace" | "signal">,
  unread: UnsearchedFile[],
): AsyncGenerator<FileBytes[]> {
  const read = async (path: string, end: number): Promise<FileBytes | undefined> => {
    try {
      return { path, bytes: await workspace.read(path, { end, signal }) }
    } catch (error) {
      if (!(error instanceof AgentError) || isAbortError(error)) throw error
      // Files that were removed in the meantime, lead out of the workspace, or belong to Karst are skipped.
      if (!skippedCodes.has(error.code)) unread.push({ path, why: error.message })
      return undefined
    }
  }
  async function* batchOf(started: StartedRead[]): AsyncGenerator<FileBytes[]> {
    const small: FileBytes[] = []
    for (const { path, start } of started) {
      const file = await start
      if (start && !file) continue
      if (file && file.bytes.length < smallBytes) {
        small.push(file)
        continue
      }
      if (small.length > 0) yield small.splice(0)
      const whole = await read(path, maxBytes + 1)
      if (whole && whole.bytes.length > maxBytes) unread.push(tooLargeFile(path))
      else if (whole) yield [whole]
    }
    if (small.length > 0) yield small
  }
  let started: StartedRead[] = []
  for await (const { path, sizeBytes = 0 } of files) {
    if (sizeBytes > maxBytes) {
      unread.push(tooLargeFile(path))
      continue
    }
    const start = sizeBytes < smallBytes ? read(path, smallBytes) : undefined
    // If the search stops early, this read is not awaited.
    start?.catch(() => {})
    started.push({ path, start })
    if (started.length < batchSize) continue
    yield* batchOf(started)
    started = []
  }
  yield* batchOf(started)
}

/** A file and its first bytes, which are the whole file if it is small. Files known to be large are read later. */
interface StartedRead {
  path: string
  start: Promise<FileBytes | undefined> | undefined
}

function tooLargeFile(path: string): UnsearchedFile {
  return { path, why: "it is larger than 32 MB" }
}

const batchSize = 64
const skippedCodes = new Set(["not-found", "outside-workspace", "protected"])
const smallBytes = 2 ** 18
const maxBytes = 32_000_000

async function namedByRipgrep(
  scope: SearchScope,
  pattern: SearchPattern,
  command: string,
): Promise<Iterable<string> | undefined> {
  const { workspace, folder, glob, extensions, hidden, signal } = scope
  if (workspace.root === undefined) return undefined
  const types = extensions && `*.{${extensions.join(",")}}`
  const wanted = glob?.startsWith("!") ? types : (glob ?? types)
  return await filesByRipgrep({
    command,
    pattern,
    directory: join(workspace.root, folder),
    folder,
    hidden: hidden || isHidden(glob ?? ""),
    glob: wanted,
    signal,
  })
}
