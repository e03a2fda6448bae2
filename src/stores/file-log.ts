import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import type { Json } from "../core/json.ts"
import { ifThere } from "./file-failure.ts"
import { corruptError } from "./store-errors.ts"

/** A way through the lines of one file. */
export interface LineWalk {
  /** The next lines; none when there are no more for now, undefined when it is another file than before. Reads in one go and
   *  remembers nothing before `keep`, so that it can be done again. */
  look(): { items: Json[]; keep(): void } | undefined
  close(): void
}

export function walkLines(path: string, from: number, isLive: boolean): LineWalk {
  let descriptor: number | undefined
  let offset = 0
  let position = 0
  let end: number | undefined

  function look(): ReturnType<LineWalk["look"]> {
    const now = statSync(path, { throwIfNoEntry: false })
    descriptor ??= ifThere(() => openSync(path, "r"))
    if (descriptor === undefined || !now) {
      return descriptor === undefined ? { items: [], keep() {} } : undefined
    }
    const held = fstatSync(descriptor)
    if (held.ino !== now.ino || held.size < offset) return undefined
    const until = end ?? (isLive ? Infinity : held.size)
    const items: Json[] = []
    let at = offset
    let number = position
    while (items.length === 0) {
      const page = linesAt(descriptor, at, Math.min(until, held.size))
      if (page.length === 0) break
      for (const line of page) {
        if (number >= from) items.push(parseLine(line, path, number))
        at += line.length + 1
        number++
      }
    }
    return {
      items,
      keep() {
        offset = at
        position = number
        end = until
      },
    }
  }

  return {
    look,
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}

/** Some of the complete lines in a range, at least one if there is one. What has no end yet is not a line. */
function linesAt(descriptor: number, from: number, to: number): Buffer[] {
  for (let size = pageSize; ; size *= 2) {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(size, to - from)))
    const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from))
    const lines = split(read)
    if (lines.length > 0 || size >= to - from) return lines
  }
}

function split(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; ; ) {
    const end = bytes.indexOf(10, start)
    if (end < 0) return lines
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
}

function parseLine(line: Buffer, path: string, position: number): Json {
  try {
    return JSON.parse(String(line))
  } catch (error) {
    const cure = "Mend the line, restore the file from a backup, or delete the log."
    throw corruptError(`The log "${path}"`, `its line ${position + 1} is not JSON`, cure, error)
  }
}

const pageSize = 262_144
