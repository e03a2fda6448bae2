import { type BigIntStats, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"

/** Whether a path is a folder or inside it; both absolute and without links. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Whether a file is inside a folder, however both are written. Folders are compared by device and inode, so links, `..`, letter case and
 *  mounts make no difference. A folder that does not exist contains nothing. */
export function isInFolder(folder: string, path: string): boolean {
  const wanted = statIfExists(folder)
  if (!wanted) return false
  for (let each = realPathIfExists(path); ; each = dirname(each)) {
    const found = statIfExists(each)
    if (found && found.dev === wanted.dev && found.ino === wanted.ino) return true
    if (dirname(each) === each) return false
  }
}

/** The real path of a file; of one that does not exist, the path as it is written. */
function realPathIfExists(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

function statIfExists(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}
