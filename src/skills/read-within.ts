// Reads a file only if it is inside a folder.
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { isWithin } from "../core/path-within.ts"

/** Returns the bytes of a regular file whose resolved path is inside `folder`, which must be absolute and free of
 *  links. `path` must not contain `..`. `problem` continues a sentence that starts with the file name. */
export async function readWithin(
  folder: string,
  path: string,
  maxBytes: number,
): Promise<{ bytes: Uint8Array } | { problem: string }> {
  const real = await realpath(path).catch(errorCodeOf)
  if (typeof real !== "string") return { problem: unreadableText(real.code) }
  if (!isWithin(folder, real)) return { problem: "is a link that leads outside its folder, and is not followed" }
  // Non-blocking, because opening a pipe could wait forever.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(errorCodeOf)
  if (!("stat" in file)) return { problem: unreadableText(file.code) }
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { problem: "is not a file" }
    if (stat.size > maxBytes) return { problem: `has ${stat.size} bytes; the most is ${maxBytes}` }
    return { bytes: await file.readFile() }
  } finally {
    await file.close()
  }
}

function errorCodeOf(error: NodeJS.ErrnoException): { code: string } {
  return { code: error.code ?? error.message }
}

function unreadableText(code: string): string {
  if (code === "ENOENT") return "is not there"
  return code === "ELOOP" ? "is a link that leads to itself" : `cannot be read (${code})`
}
