// Reads the end of a JSON-lines file, as the CLIs write for their conversations.
import { open } from "node:fs/promises"
import type { Json } from "../../core/json.ts"

// A conversation may have megabytes, and only its last lines are needed.
const tailBytes = 512 * 1024

/** The last lines of a file, newest first. The oldest of them may be cut. */
export async function readNewestLines(path: string): Promise<string[]> {
  await using file = await open(path)
  const { size } = await file.stat()
  const start = Math.max(0, size - tailBytes)
  const buffer = Buffer.alloc(size - start)
  await file.read(buffer, 0, buffer.length, start)
  return buffer.toString("utf8").split("\n").reverse()
}

/** The first result of `read` for a line that contains `text`. */
export function findInLines<T>(
  newestFirst: readonly string[],
  text: string,
  read: (line: Json) => T | undefined,
): T | undefined {
  for (const line of newestFirst) {
    if (!line.includes(text)) continue
    try {
      const found = read(JSON.parse(line))
      if (found !== undefined) return found
    } catch {
      // A cut line is no JSON.
    }
  }
  return undefined
}
