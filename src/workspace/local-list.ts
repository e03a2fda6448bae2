import type { BigIntStats, Dirent } from "node:fs"
import { lstat, readdir } from "node:fs/promises"
import { AgentError } from "../core/errors.ts"
import { stopIfAborted } from "./data.ts"
import type { Glob } from "./glob.ts"
import { codeOf, localFailure, unless } from "./local-failure.ts"
import { type Folder, openFolder } from "./local-folder.ts"
import { isDraft } from "./local-write.ts"
import { byPath, inFolder, isCleanPath } from "./paths.ts"

export interface Walk {
  /** Where the walk began, within the workspace. */
  base: string
  glob: Glob | undefined
  signal: AbortSignal | undefined
}

/** The files below an open folder, in order. Links are other names for what is listed under its own, or lead out: they are
 *  passed over, and so is what is no file or has a name that no path can have. `below` is the folder's path from `base`. */
export async function* filesBelow(
  folder: Folder,
  below: string,
  walk: Walk,
  depth = 0,
): AsyncGenerator<{ path: string; stats: BigIntStats }> {
  const { base, glob, signal } = walk
  if (depth > deepest) throw tooDeep(inFolder(base, below))
  const entries = await entriesOf(folder, inFolder(base, below))
  for (let from = 0; from < entries.length; from += atOnce) {
    stopIfAborted(signal)
    const batch = entries.slice(from, from + atOnce)
    const looks = await Promise.all(batch.map((entry) => look(folder, entry, below, walk)))
    for (const [index, entry] of batch.entries()) {
      const stats = looks[index]
      const path = inFolder(below, entry.name)
      if (stats?.isFile()) yield { path: inFolder(base, path), stats }
      if (!stats?.isDirectory() || !(glob?.mayBeBelow(path) ?? true)) continue
      const inner = await enter(folder, entry.name, inFolder(base, path))
      if (!inner) continue
      try {
        yield* filesBelow(inner, path, walk, depth + 1)
      } finally {
        await inner.close()
      }
    }
  }
}

const atOnce = 64
// Each folder on the way is open, and a program may have some thousand open files.
const deepest = 200

function tooDeep(path: string): AgentError {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path
  const cure = "List a folder further down, or leave this one out with a glob."
  return new AgentError(`"${shown}" is more than ${deepest} folders down. ${cure}`, { code: "too-deep" })
}

async function entriesOf(folder: Folder, path: string): Promise<Dirent[]> {
  const entries = await readdir(folder.at("."), { withFileTypes: true }).catch((error) => {
    throw localFailure(error, path)
  })
  // A folder sorts as its files do: with the slash behind its name.
  const key = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name)
  return entries
    .filter(({ name }) => isCleanPath(name) && !isDraft(name))
    .sort((one, other) => byPath(key(one), key(other)))
}

async function look(folder: Folder, entry: Dirent, below: string, { base, glob }: Walk) {
  const path = inFolder(below, entry.name)
  if (entry.isSymbolicLink()) return undefined
  if (entry.isFile() && !(glob?.matches(path) ?? true)) return undefined
  return await unless("ENOENT", inFolder(base, path), lstat(folder.at(entry.name), { bigint: true }))
}

// It may have been removed or swapped for a link since it was seen; what may not be read is told.
async function enter(folder: Folder, name: string, path: string): Promise<Folder | undefined> {
  try {
    return await openFolder(folder.at(name), name)
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return undefined
    throw localFailure(error, path)
  }
}
