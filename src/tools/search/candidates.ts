import { join } from "node:path"
import { AgentError, isAbort } from "../../core/errors.ts"
import { isDraft } from "../../workspace/local-write.ts"
import { isCleanPath } from "../../workspace/paths.ts"
import type { FileInfo, Workspace } from "../../workspace/workspace.ts"
import { chooser, isHidden, listGlob } from "../files/walk.ts"
import type { FileBytes } from "./matcher.ts"
import type { Pattern } from "./pattern.ts"
import { filesByRipgrep } from "./ripgrep.ts"

/** Which files are searched. */
export interface Place {
  workspace: Workspace
  /** Clean; "" is the workspace itself. */
  folder: string
  glob: string | undefined
  extensions: readonly string[] | undefined
  hidden: boolean
  signal: AbortSignal
}

/** Files that may have a match, by path. With ripgrep those it names, otherwise all that are meant: the order is the same, and so is
 *  what is found in them. */
export async function* candidates(
  place: Place,
  pattern: Pattern,
  ripgrep: string | undefined,
): AsyncGenerator<FileInfo> {
  const { workspace, folder, glob, extensions, hidden, signal } = place
  const isChosen = chooser({ glob, hidden })
  const isMeant = (path: string) => {
    const below = folder === "" ? path : path.slice(folder.length + 1)
    return isChosen(below) && (!extensions || extensions.some((extension) => path.endsWith(`.${extension}`)))
  }
  const named = ripgrep === undefined ? undefined : await namedByRipgrep(place, pattern, ripgrep)
  if (!named) {
    for await (const info of workspace.list(folder, { glob: listGlob(glob), signal }))
      if (isMeant(info.path)) yield info
    return
  }
  const look = async (path: string) => {
    if (!isCleanPath(path) || !isMeant(path) || isDraft(path.slice(path.lastIndexOf("/") + 1))) return undefined
    // What is gone meanwhile, or leads out of the workspace, is not there.
    return await workspace.stat(path, { signal }).catch(unlessAborted)
  }
  for (let from = 0; from < named.length; from += atOnce) {
    const infos = await Promise.all(named.slice(from, from + atOnce).map(look))
    yield* infos.filter((info) => info !== undefined)
  }
}

/** What could not be searched, and why. */
export interface Unread {
  path: string
  why: string
}

/** Reads files, several at once, in portions of a few megabytes. */
export async function* readInPortions(
  files: AsyncIterable<FileInfo>,
  { workspace, signal }: Pick<Place, "workspace" | "signal">,
  unread: Unread[],
): AsyncGenerator<FileBytes[]> {
  let portion: Promise<FileBytes | undefined>[] = []
  let bytes = 0
  const read = async ({ path }: FileInfo): Promise<FileBytes | undefined> => {
    try {
      return { path, bytes: await workspace.read(path, { end: mostBytes, signal }) }
    } catch (error) {
      if (!(error instanceof AgentError) || isAbort(error)) throw error
      if (error.code !== "not-found") unread.push({ path, why: error.message })
      return undefined
    }
  }
  const take = async () => {
    const taken = await Promise.all(portion)
    portion = []
    bytes = 0
    return taken.filter((file) => file !== undefined)
  }
  for await (const info of files) {
    if (info.size > mostBytes) {
      unread.push({ path: info.path, why: "it is larger than 32 MB" })
      continue
    }
    const reading = read(info)
    // Whoever stops early does not wait for it.
    reading.catch(() => {})
    portion.push(reading)
    bytes += info.size
    if (portion.length >= atOnce || bytes > 4_000_000) yield await take()
  }
  if (portion.length > 0) yield await take()
}

const atOnce = 64
const mostBytes = 32_000_000

async function namedByRipgrep(place: Place, pattern: Pattern, command: string): Promise<string[] | undefined> {
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

function unlessAborted(error: unknown): undefined {
  if (!(error instanceof AgentError) || isAbort(error)) throw error
}
