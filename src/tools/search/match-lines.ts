import { decode, detectTextFormat } from "../files/text-encoding.ts"

export type SearchMode = "content" | "files" | "count"

/** What a matcher looks for, and what it tells. */
export interface MatchOptions {
  source: string
  flags: string
  /** Whether a match may go over line breaks. */
  isMultiline: boolean
  mode: SearchMode
  /** How many lines before and after. */
  context: number
}

/** One line of a file: one that matches, or one around it. */
export interface Row {
  line: number
  text: string
  match: boolean
}

/** What was found in one file. */
export interface FileMatch {
  path: string
  /** Lines that match. */
  count: number
  /** In `content` mode. */
  rows: Row[]
}

/** Searches one file; undefined when nothing is found or it is no text. No more than `most` rows are told. What it holds does not grow
 *  with the number of lines. */
export function matchFile(
  path: string,
  bytes: Uint8Array,
  regex: RegExp,
  { mode, isMultiline: spans, context }: MatchOptions,
  most: number,
): FileMatch | undefined {
  const text = decodeText(bytes, spans)
  if (text === undefined) return undefined
  const hitIn = spans ? createMultilineFinder(text, regex) : (line: string) => line.search(regex)
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
    if (rows.length >= most) break
  }
  return count === 0 ? undefined : { path, count, rows: rows.slice(0, most) }
}

function* linesOf(text: string): Generator<{ number: number; line: string; start: number }> {
  let start = 0
  // A line break at the end begins no line.
  for (let number = 1; start < text.length; number++) {
    const found = text.indexOf("\n", start)
    const end = found < 0 ? text.length : found
    yield { number, line: text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end), start }
    start = end + 1
  }
}

/** Where in a line a match is that may have begun before it; asked line by line. */
function createMultilineFinder(text: string, regex: RegExp): (line: string, start: number) => number {
  const matches = text.matchAll(regex)
  let current = matches.next().value
  return (line, start) => {
    while (current && current.index + Math.max(0, current[0].length - 1) < start) current = matches.next().value
    if (!current || current.index > start + line.length) return -1
    return Math.max(0, current.index - start)
  }
}

// A line of a packed file may be the whole file: what is around the match is enough.
function shortenAround(text: string, at: number): string {
  if (text.length <= maxLineChars) return text
  const from = Math.max(0, Math.min(at - maxLineChars / 4, text.length - maxLineChars))
  const piece = text.slice(from, from + maxLineChars).toWellFormed()
  return `${from > 0 ? "…" : ""}${piece}${from + maxLineChars < text.length ? "…" : ""}`
}

const maxLineChars = 400

function decodeText(bytes: Uint8Array, spans: boolean): string | undefined {
  const kind = detectTextFormat(bytes)
  if (!kind) return undefined
  // As ripgrep has it: without a byte order mark it is UTF-8.
  const text = decode(bytes.subarray(kind.bomBytes), kind.encoding === "latin1" ? "utf-8" : kind.encoding)
  // And a NUL says that it is no text, in two bytes as in one.
  if (text.includes("\0")) return undefined
  return spans ? text.replaceAll("\r\n", "\n") : text
}
