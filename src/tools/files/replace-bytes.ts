import { codeUnitBytes } from "./read-lines.ts"
import { type Encoding, encode } from "./text-encoding.ts"

/** Where a text is in a file, in bytes. */
export interface ByteMatch {
  start: number
  end: number
  /** Whether it is also there from a byte on that is within this one. */
  overlaps: boolean
}

/** Every place of a text, from the first on, none within another. A line break of the text stands for either kind, unless it has a
 *  carriage return of its own. */
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

/** The bytes with another text in all these places; undefined when the encoding cannot write it. Its line breaks become those of the
 *  place, or, where it has none, those that most lines of the file end with; unless it is to be written as it is. */
export function replaceMatches(
  bytes: Buffer,
  found: readonly ByteMatch[],
  text: string,
  encoding: Encoding,
  asItIs = false,
): Buffer | undefined {
  const { lf, crlf } = lineBreaks(encoding)
  const asIs = encode(text, encoding)
  const asCrlf = asItIs || text.includes("\r") ? asIs : encode(text.replaceAll("\n", "\r\n"), encoding)
  if (!asIs || !asCrlf) return undefined
  const fileIsCrlf = mostlyCrlf(bytes, encoding)
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end } of found) {
    const place = bytes.subarray(start, end)
    const isCrlf = place.includes(lf) ? place.includes(crlf) : fileIsCrlf
    parts.push(bytes.subarray(from, start), isCrlf ? asCrlf : asIs)
    from = end
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
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
  // A text that begins with a line break is found by it, and begins before its carriage return.
  const anchor = first.length > 0 ? first : breaks.lf
  for (let at = from; ; at += unit) {
    at = bytes.indexOf(anchor, at)
    if (at < 0) return undefined
    // Within a character of two bytes nothing begins.
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
