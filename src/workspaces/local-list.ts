// Lists the files of a local folder in the order of paths.
import type { BigIntStats, Dirent } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { AgentError } from "../core/errors.ts"
import { throwIfAborted } from "./file-data.ts"
import type { Glob } from "./glob.ts"
import { errnoOf, toLocalError, undefinedOn } from "./local-errors.ts"
import { type OpenFolder, openFolder } from "./local-folder.ts"
import { isDraftName } from "./local-write.ts"
import { comparePaths, isCleanPath, joinPath } from "./workspace-path.ts"

export interface Walk {
  /** The folder where the listing began, as a path in the workspace. */
  base: string
  glob: Glob | undefined
  signal: AbortSignal | undefined
}

/** Lists the files below an open folder in order. Skips links (their targets are listed under their own names, or
 *  are outside), entries that are not files, and names that are not valid in paths. `below` is the folder's path
 *  from `base`. */
export async function* listFilesBelow(
  folder: OpenFolder,
  below: string,
  walk: Walk,
  depth = 0,
): AsyncGenerator<{ path: string; stats: BigIntStats }> {
  const { base, glob, signal } = walk
  if (depth > maxDepth) throw tooDeepError(joinPath(base, below))
  const entries = await entriesOf(folder, joinPath(base, below))
  for (let from = 0; from < entries.length; from += batchSize) {
    throwIfAborted(signal)
    const batch = entries.slice(from, from + batchSize)
    const looks = await Promise.all(batch.map((entry) => statEntry(folder, entry, below, walk)))
    for (const [index, entry] of batch.entries()) {
      const stats = looks[index]
      const path = joinPath(below, entry.name)
      if (stats?.isFile()) yield { path: joinPath(base, path), stats }
      if (!stats?.isDirectory() || !(glob?.mayBeBelow(path) ?? true)) continue
      const inner = await enterFolder(folder, entry.name, joinPath(base, path))
      if (!inner) continue
      try {
        yield* listFilesBelow(inner, path, walk, depth + 1)
      } finally {
        await inner.close()
      }
    }
  }
}

const batchSize = 64
// Every folder on the way is open, and a process can have some thousand open files.
const maxDepth = 200

function tooDeepError(path: string): AgentError {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path
  const cure = "List a folder further down, or leave this one out with a glob."
  return new AgentError(`"${shown}" is more than ${maxDepth} folders down. ${cure}`, { code: "too-deep" })
}

async function entriesOf(folder: OpenFolder, path: string): Promise<Dirent[]> {
  const entries = await readdir(folder.at("."), { withFileTypes: true }).catch((error) => {
    throw toLocalError(error, path)
  })
  // A folder is sorted like its files: with a slash after its name.
  const key = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name)
  return entries
    .filter(({ name }) => isCleanPath(name) && !isDraftName(name))
    .sort((one, other) => comparePaths(key(one), key(other)))
}

async function statEntry(folder: OpenFolder, entry: Dirent, below: string, { base, glob }: Walk) {
  const path = joinPath(below, entry.name)
  if (entry.isSymbolicLink()) return undefined
  if (entry.isFile() && !(glob?.matches(path) ?? true)) return undefined
  return await undefinedOn("ENOENT", joinPath(base, path), lstat(folder.at(entry.name), { bigint: true }))
}

// Returns undefined if the folder was removed or replaced by a link in the meantime. Other errors are thrown.
async function enterFolder(folder: OpenFolder, name: string, path: string): Promise<OpenFolder | undefined> {
  try {
    return await openFolder(folder.at(name), name)
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "")) return undefined
    throw toLocalError(error, path)
  }
}
