// Finds the folder with the task data. The data is not part of the repository.
import { existsSync, globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { root } from "../../scripts/tools.ts"

/** The data folder: the one named on the command line, that of KARST_EVAL_DATA, or `../shared/data`. */
export function dataFolder(named?: string): string {
  return resolve(named ?? process.env.KARST_EVAL_DATA ?? join(root, "../shared/data"))
}

/** Says which of the folders is missing, and what to do; undefined if none is. */
export function missingData(data: string, needs: readonly string[]): string | undefined {
  const missing = needs.filter((name) => !existsSync(join(data, name)))
  if (missing.length === 0) return undefined
  return `evaluation data: ${missing.join(", ")} is not in the data folder; name one with --data or KARST_EVAL_DATA`
}

export async function readJson<T>(...path: string[]): Promise<T> {
  return JSON.parse(await readFile(join(...path), "utf8"))
}

/** The files of a folder whose names match, in order. */
export function filesLike(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder }).sort()
}
