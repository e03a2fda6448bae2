// Finds and replaces text in the bytes of a file, in any encoding and with either kind of line break.
import { codeUnitBytes } from "./read-lines.ts"
import { type Encoding, encode } from "./text-encoding.ts"

export interface ByteRange {
  start: number
  /** The byte after the last one. */
  end: number
}

export interface ByteMatch extends ByteRange {
  /** True if another match begins within this one. */
  overlaps: boolean
}

/** Finds all matches that do not overlap. A line break in the text matches LF and CRLF, unless the text contains a
 *  carriage return. */
export function findMatches(bytes: Buffer, text: string, encoding: Encoding): ByteMatch[] {
  const pieces = text.includes("\r") ? [text] : text.split("\n")
  const encoded = pieces.map((piece) => encode(piece, encoding))
  if (!encoded.every((piece) => piece !== undefined)) return []
  const breaks = lineBreaks(encoding)
  const found: ByteMatch[] = []
  for (let from = 0; ; ) {
    const next = findNextMatch(bytes, encoded, breaks, from)
    if (!next) return found
    const last = found.at(-1)
    if (last && next.start < last.end) last.overlaps = true
    else found.push({ ...next, overlaps: false })
    from = next.start + codeUnitBytes(encoding)
  }
}

/** Returns the bytes with every match replaced, and the range of each replacement in them; undefined if the encoding
 *  cannot represent the text. Line breaks of the new text become those of the match or, if it has none, those of most
 *  lines of the file. With `keepLineBreaks` they stay unchanged. */
export function replaceMatches(
  bytes: Buffer,
  found: readonly ByteMatch[],
  text: string,
  encoding: Encoding,
  keepLineBreaks = false,
): { bytes: Buffer; ranges: ByteRange[] } | undefined {
  const { lf, crlf } = lineBreaks(encoding)
  const asIs = encode(text, encoding)
  const asCrlf = keepLineBreaks || text.includes("\r") ? asIs : encode(text.replaceAll("\n", "\r\n"), encoding)
  if (!asIs || !asCrlf) return undefined
  const fileIsCrlf = mostlyCrlf(bytes, encoding)
  const parts: Buffer[] = []
  const ranges: ByteRange[] = []
  let from = 0
  let length = 0
  for (const { start, end } of found) {
    const match = bytes.subarray(start, end)
    const isCrlf = match.includes(lf) ? match.includes(crlf) : fileIsCrlf
    const written = isCrlf ? asCrlf : asIs
    parts.push(bytes.subarray(from, start), written)
    length += start - from
    ranges.push({ start: length, end: length + written.length })
    length += written.length
    from = end
  }
  return { bytes: Buffer.concat([...parts, bytes.subarray(from)]), ranges }
}

/** Returns where a range is after the matches were replaced. A part that was replaced moves to its replacement. The
 *  matches are in the order of the file. */
export function moveRange(
  { start, end }: ByteRange,
  matches: readonly ByteRange[],
  replacements: readonly ByteRange[],
): ByteRange {
  const move = (position: number, edge: "start" | "end") => {
    const index = countStartsBefore(matches, position) - 1
    const match = matches[index]
    const replacement = replacements[index]
    if (!match || !replacement) return position
    return position < match.end ? replacement[edge] : position - match.end + replacement.end
  }
  return { start: move(start, "start"), end: move(end, "end") }
}

function countStartsBefore(ranges: readonly ByteRange[], position: number): number {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.start ?? position) < position) low = middle + 1
    else high = middle
  }
  return low
}

interface LineBreaks {
  lf: Buffer
  crlf: Buffer
}

function lineBreaks(encoding: Encoding): LineBreaks {
  return { lf: encode("\n", encoding) ?? Buffer.of(10), crlf: encode("\r\n", encoding) ?? Buffer.of(13, 10) }
}

function findNextMatch(bytes: Buffer, pieces: readonly Buffer[], breaks: LineBreaks, from: number) {
  const unit = breaks.lf.length
  const [first = Buffer.of(), ...rest] = pieces
  // A text that starts with a line break is searched by the line feed, and starts before its carriage return.
  const anchor = first.length > 0 ? first : breaks.lf
  for (let at = from; ; at += unit) {
    at = bytes.indexOf(anchor, at)
    if (at < 0) return undefined
    // Matches in a two-byte encoding start at even bytes.
    if (at % unit !== 0) {
      at += 1 - unit
      continue
    }
    const start = first.length > 0 || !endsWith(bytes, at, breaks.crlf.subarray(0, unit)) ? at : at - unit
    const end = start < from ? undefined : matchEnd(bytes, start, first, rest, breaks)
    if (end !== undefined) return { start, end }
  }
}

function matchEnd(bytes: Buffer, start: number, first: Buffer, rest: readonly Buffer[], { lf, crlf }: LineBreaks) {
  let at = start + first.length
  for (const piece of rest) {
    const broken = [crlf, lf].find((mark) => startsWith(bytes, at, mark))
    if (!broken) return undefined
    at += broken.length
    if (!startsWith(bytes, at, piece)) return undefined
    at += piece.length
  }
  return at
}

function startsWith(bytes: Buffer, at: number, piece: Buffer): boolean {
  return bytes.subarray(at, at + piece.length).equals(piece)
}

function endsWith(bytes: Buffer, at: number, piece: Buffer): boolean {
  return at >= piece.length && startsWith(bytes, at - piece.length, piece)
}

function mostlyCrlf(bytes: Buffer, encoding: Encoding): boolean {
  const { lf, crlf } = lineBreaks(encoding)
  const count = (mark: Buffer) => {
    let times = 0
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) times++
    return times
  }
  return count(crlf) * 2 > count(lf)
}
