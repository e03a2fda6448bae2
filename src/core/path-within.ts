// Tests whether a path is inside a folder.
import { type BigIntStats, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"
import { attempt } from "./attempt.ts"

/** Returns true if `path` is `folder` or inside it. Both must be absolute and free of links. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Returns true if a file is inside a folder, however both are written. Compares folders by device and inode, so
 *  links, `..`, letter case and mounts make no difference. A folder that does not exist contains nothing. */
export function isInFolder(folder: string, path: string): boolean {
  const wanted = statIfExists(folder)
  if (!wanted) return false
  for (let each = realPathIfExists(path); ; each = dirname(each)) {
    const found = statIfExists(each)
    if (found && found.dev === wanted.dev && found.ino === wanted.ino) return true
    if (dirname(each) === each) return false
  }
}

/** The real path of a file. If the file does not exist, the resolved path. */
function realPathIfExists(path: string): string {
  return attempt(() => realpathSync(path)) ?? resolve(path)
}

function statIfExists(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}
