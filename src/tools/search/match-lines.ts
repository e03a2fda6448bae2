// Searches the text of one file line by line.
import { decode, detectTextFormat } from "../files/text-encoding.ts"

export type SearchMode = "content" | "files" | "count"

/** What to search for, and what to report. */
export interface MatchOptions {
  source: string
  flags: string
  /** True if a match may contain line breaks. */
  isMultiline: boolean
  mode: SearchMode
  /** The number of lines to show before and after a match. */
  context: number
}

/** A line that matches, or one near it. */
export interface Row {
  line: number
  text: string
  match: boolean
}

export interface FileMatch {
  path: string
  /** The number of matching lines. */
  count: number
  /** Filled in `content` mode only. */
  rows: Row[]
}

/** Searches one file. Returns undefined if nothing matches or the file is not text. Reports at most `maxRows` rows.
 *  Memory use does not depend on the number of lines. */
export function matchFile(
  path: string,
  bytes: Uint8Array,
  regex: RegExp,
  { mode, isMultiline, context }: MatchOptions,
  maxRows: number,
): FileMatch | undefined {
  const text = decodeText(bytes, isMultiline)
  if (text === undefined) return undefined
  const hitIn = isMultiline ? createMultilineFinder(text, regex) : (line: string) => line.search(regex)
  const rows: Row[] = []
  const before: Row[] = []
  let count = 0
  let after = 0
  for (const { number, line, start } of linesOf(text)) {
    const at = hitIn(line, start)
    if (at >= 0) count++
    if (mode === "files" && count > 0) break
    if (mode !== "content") continue
    if (at >= 0) {
      rows.push(...before.splice(0), { line: number, text: shortenAround(line, at), match: true })
      after = context
    } else if (after-- > 0) {
      rows.push({ line: number, text: shortenAround(line, 0), match: false })
    } else if (context > 0) {
      before.push({ line: number, text: shortenAround(line, 0), match: false })
      if (before.length > context) before.shift()
    }
    if (rows.length >= maxRows) break
  }
  return count === 0 ? undefined : { path, count, rows: rows.slice(0, maxRows) }
}

function* linesOf(text: string): Generator<{ number: number; line: string; start: number }> {
  let start = 0
  // A line break at the end of the file does not start a line.
  for (let number = 1; start < text.length; number++) {
    const found = text.indexOf("\n", start)
    const end = found < 0 ? text.length : found
    yield { number, line: text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end), start }
    start = end + 1
  }
}

/** Returns the position of a match in a line; the match may have begun in an earlier line. Must be called for every
 *  line in order. */
function createMultilineFinder(text: string, regex: RegExp): (line: string, start: number) => number {
  const matches = text.matchAll(regex)
  let current = matches.next().value
  return (line, start) => {
    while (current && current.index + Math.max(0, current[0].length - 1) < start) current = matches.next().value
    if (!current || current.index > start + line.length) return -1
    return Math.max(0, current.index - start)
  }
}

// A line of a minified file may be the whole file, so only the surroundings of the match are shown.
function shortenAround(text: string, at: number): string {
  if (text.length <= maxLineChars) return text
  const from = Math.max(0, Math.min(at - maxLineChars / 4, text.length - maxLineChars))
  const piece = text.slice(from, from + maxLineChars).toWellFormed()
  return `${from > 0 ? "…" : ""}${piece}${from + maxLineChars < text.length ? "…" : ""}`
}

const maxLineChars = 400

function decodeText(bytes: Uint8Array, isMultiline: boolean): string | undefined {
  const kind = detectTextFormat(bytes)
  if (!kind) return undefined
  // Like ripgrep: without a byte order mark, text is UTF-8.
  const text = decode(bytes.subarray(kind.bomBytes), kind.encoding === "latin1" ? "utf-8" : kind.encoding)
  // A file with a NUL character is not text, in two-byte encodings as well.
  if (text.includes("\0")) return undefined
  return isMultiline ? text.replaceAll("\r\n", "\n") : text
}
