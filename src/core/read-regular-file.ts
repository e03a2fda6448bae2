// Reads a file that a person or a program names, with a limit. Pipes and devices are refused: opening or reading one
// may never end.
import { constants } from "node:fs"
import { open } from "node:fs/promises"

/** `problem` continues a sentence that starts with the name of the file. */
export type ReadFileResult = { bytes: Buffer } | { problem: string }

/** Returns the bytes of a regular file. Never waits for a writer, and reads no more than `maxBytes` and one byte. */
export async function readRegularFile(path: string, maxBytes: number): Promise<ReadFileResult> {
  try {
    // Non-blocking, because opening a pipe could wait for ever.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (stat.isDirectory()) return { problem: folder }
    if (!stat.isFile()) return { problem: special }
    if (stat.size > maxBytes) return { problem: `has ${stat.size} bytes; the most is ${maxBytes}` }
    // A file can grow, and files of the system have no size: the end is where nothing more is read.
    const chunks: Buffer[] = []
    for (let length = 0; length <= maxBytes; ) {
      const chunk = Buffer.allocUnsafe(Math.min(Math.max(stat.size - length, 0) + 4096, maxBytes + 1 - length))
      const { bytesRead } = await file.read(chunk, 0, chunk.length)
      if (bytesRead === 0) return { bytes: Buffer.concat(chunks) }
      chunks.push(chunk.subarray(0, bytesRead))
      length += bytesRead
    }
    return { problem: `has more than ${maxBytes} bytes` }
  } catch (error) {
    return { problem: readProblem(error) }
  }
}

/** Says why a file cannot be read, as the end of a sentence that starts with its name. */
export function readProblem(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException
  return reasons[code] ?? `cannot be read (${code || message})`
}

/** Returns true if there is no such file. */
export function isNotThere(result: ReadFileResult): boolean {
  return "problem" in result && result.problem === missing
}

const missing = "is not there"
const folder = "is not a file, but a folder"
const special = "is not a file, but a pipe or a device. Write its content to a file"

const reasons: Record<string, string> = {
  ENOENT: missing,
  ENOTDIR: missing,
  EACCES: "may not be read by this user",
  ELOOP: "is a link that leads to itself",
  EISDIR: folder,
  // A socket, or a device that is not connected.
  ENXIO: special,
}
