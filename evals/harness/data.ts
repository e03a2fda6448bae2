// Finds the folder with the task data, and reads its files. The data is not part of the repository.
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

/** Reads a file of the data. An error names the file and what is wrong with it. */
export async function readJson<T>(...path: string[]): Promise<T> {
  const file = join(...path)
  try {
    return JSON.parse(await readFile(file, "utf8"))
  } catch (error) {
    const reason = error instanceof SyntaxError ? `it is not JSON: ${error.message}` : errorText(error)
    throw new Error(`evaluation data: ${file} cannot be read, ${reason}`)
  }
}

/** A suite without tasks would verify nothing. */
export function mustHaveTasks(tasks: readonly unknown[], folder: string, files: string): void {
  if (tasks.length === 0)
    throw new Error(`evaluation data: ${folder} has no task that can be run; tasks are in ${files}`)
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The files of a folder whose names match, in order. */
export function filesLike(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder }).sort()
}
