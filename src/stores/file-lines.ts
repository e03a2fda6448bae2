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

/** A line of the journal: a checksum, JSON, and a mark that is written over when it is done, or taken back. */
export interface Line<T> {
  data: T
  mark: string
}

export const marks = { decided: "-", done: "+", void: "x" }

export function writeLine(data: Header | Steps, mark: string): Buffer {
  const json = JSON.stringify(data)
  return Buffer.from(`${checksum(json)} ${json} ${mark}\n`)
}

/** Undefined when it is not as it was written. The type is the caller's knowledge: the checksum says that we wrote it. */
export function readLine<T extends Header | Steps>(line: string): Line<T> | undefined {
  const json = line.slice(9, -2)
  if (line.length < 12 || line.slice(0, 8) !== checksum(json)) return undefined
  return { data: JSON.parse(json), mark: line.slice(-1) }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0")
}
