import { open } from "node:fs/promises"
import type { Json } from "../../core/json.ts"

// The last lines are enough, and a conversation may have megabytes.
const tailBytes = 512 * 1024

/** The end of a file of JSON lines, newest line first. */
export async function readNewestLines(path: string): Promise<string[]> {
  await using file = await open(path)
  const { size } = await file.stat()
  const start = Math.max(0, size - tailBytes)
  const buffer = Buffer.alloc(size - start)
  await file.read(buffer, 0, buffer.length, start)
  return buffer.toString("utf8").split("\n").reverse()
}

/** What `read` finds in the newest line that contains `about` and in which it finds something. */
export function findInLines<T>(
  newestFirst: readonly string[],
  about: string,
  read: (line: Json) => T | undefined,
): T | undefined {
  for (const line of newestFirst) {
    if (!line.includes(about)) continue
    try {
      const found = read(JSON.parse(line))
      if (found !== undefined) return found
    } catch {
      // The first line of the tail may be cut.
    }
  }
  return undefined
}
