import { join } from "node:path"
import { AgentError, isAbortError } from "../../core/errors.ts"
import { isDraftName } from "../../workspaces/local-write.ts"
import type { Workspace } from "../../workspaces/workspace.ts"
import { isCleanPath } from "../../workspaces/workspace-path.ts"
import { createFileFilter, isHidden, toWorkspaceGlob } from "../files/file-filter.ts"
import type { FileBytes } from "./matcher.ts"
import { filesByRipgrep } from "./ripgrep.ts"
import type { SearchPattern } from "./search-pattern.ts"

/** Which files are searched. */
export interface SearchScope {
  workspace: Workspace
  /** Clean; "" is the workspace itself. */
  folder: string
  glob: string | undefined
  extensions: readonly string[] | undefined
  hidden: boolean
  signal: AbortSignal
}

/** A file to look into. */
export interface CandidateFile {
  path: string
  /** Where it is known without asking. */
  size?: number | undefined
}

/** Files that may have a match, by path. With ripgrep those it names, otherwise all that are meant: the order is the same, and so is
 *  what is found in them. */
export async function* candidateFiles(
  place: SearchScope,
  pattern: SearchPattern,
  ripgrep: string | undefined,
): AsyncGenerator<CandidateFile> {
  const { workspace, folder, glob, extensions, hidden, signal } = place
  const isChosen = createFileFilter({ glob, hidden })
  const isMeant = (path: string) => {
    const below = folder === "" ? path : path.slice(folder.length + 1)
    return isChosen(below) && (!extensions || extensions.some((extension) => path.endsWith(`.${extension}`)))
  }
  const named = ripgrep === undefined ? undefined : await namedByRipgrep(place, pattern, ripgrep)
  if (!named) {
    for await (const info of workspace.list(folder, { glob: toWorkspaceGlob(glob), signal }))
      if (isMeant(info.path)) yield info
    return
  }
  for (const path of named) {
    const isFile = isCleanPath(path) && !isDraftName(path.slice(path.lastIndexOf("/") + 1))
    if (isFile && isMeant(path)) yield { path }
  }
}

/** What could not be searched, and why. */
export interface UnsearchedFile {
  path: string
  why: string
}

/** Reads files, small ones many at once, large ones one by one, and gives them in their order. */
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
      // What is gone meanwhile, or leads out of the workspace, is not there.
      if (error.code !== "not-found" && error.code !== "outside-workspace") unread.push({ path, why: error.message })
      return undefined
    }
  }
  async function* portionOf(begun: StartedRead[]): AsyncGenerator<FileBytes[]> {
    const small: FileBytes[] = []
    for (const { path, start } of begun) {
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
  let begun: StartedRead[] = []
  for await (const { path, size = 0 } of files) {
    if (size > maxBytes) {
      unread.push(tooLargeFile(path))
      continue
    }
    const start = size < smallBytes ? read(path, smallBytes) : undefined
    // Whoever stops early does not wait for it.
    start?.catch(() => {})
    begun.push({ path, start })
    if (begun.length < batchSize) continue
    yield* portionOf(begun)
    begun = []
  }
  yield* portionOf(begun)
}

/** A file and its first bytes, which are all of it if it is small; a file known to be large is left for later. */
interface StartedRead {
  path: string
  start: Promise<FileBytes | undefined> | undefined
}

function tooLargeFile(path: string): UnsearchedFile {
  return { path, why: "it is larger than 32 MB" }
}

const batchSize = 64
const smallBytes = 2 ** 18
const maxBytes = 32_000_000

async function namedByRipgrep(
  place: SearchScope,
  pattern: SearchPattern,
  command: string,
): Promise<Iterable<string> | undefined> {
  const { workspace, folder, glob, extensions, hidden, signal } = place
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
