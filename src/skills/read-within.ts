// Reads a file only if it is inside a folder.
import { realpath } from "node:fs/promises"
import { isWithin } from "../core/path-within.ts"
import { type ReadFileResult, readProblem, readRegularFile } from "../core/read-regular-file.ts"

/** Returns the bytes of a regular file whose resolved path is inside `folder`, which must be absolute and free of
 *  links. `path` must not contain `..`. `problem` continues a sentence that starts with the file name. */
export async function readWithin(folder: string, path: string, maxBytes: number): Promise<ReadFileResult> {
  const real = await realpath(path).catch((error: unknown) => ({ problem: readProblem(error) }))
  if (typeof real !== "string") return real
  if (!isWithin(folder, real)) return { problem: "is a link that leads outside its folder, and is not followed" }
  return await readRegularFile(real, maxBytes)
}
