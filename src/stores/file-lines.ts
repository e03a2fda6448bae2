import { crc32 } from "node:zlib"
import type { Steps } from "./file-steps.ts"

/** The first line of a journal. */
export interface Header {
  format: number
  /** The last revision before it. */
  revision: number
  /** Which start of the machine it was begun in. What came after is surely in the files only while that lasts. */
  boot: string
}

/** A line of the journal: a checksum, JSON, and whether it was done. */
export interface Line<T> {
  data: T
  isDone: boolean
}

export function writeLine(data: Header | Steps, isDone: boolean): Buffer {
  const json = JSON.stringify(data)
  return Buffer.from(`${checksum(json)} ${json} ${isDone ? doneMark : "-"}\n`)
}

/** Undefined when it is not as it was written. The type is the caller's knowledge: the checksum says that we wrote it. */
export function readLine<T extends Header | Steps>(line: string): Line<T> | undefined {
  const json = line.slice(9, -2)
  if (line.length < 12 || line.slice(0, 8) !== checksum(json)) return undefined
  return { data: JSON.parse(json), isDone: line.endsWith(doneMark) }
}

/** How a line ends once it was done. */
export const doneMark = "+"

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0")
}
