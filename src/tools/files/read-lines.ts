// Finds and takes lines in bytes of any encoding.
import { decode, type Encoding, type TextFormat } from "./text-encoding.ts"

/** A position in a file: a byte, and the line it is in. */
export interface LinePosition {
  line: number
  byte: number
}

export interface LineSliceLimits {
  /** The last requested line. */
  endLine: number
  maxLines: number
  /** The total of all lines, including line numbers. */
  maxChars: number
  /** True: each line is shown with its number. */
  numbers: boolean
}

export interface LineSlice {
  /** The number of the first line. */
  first: number
  lines: string[]
  rendered: string[]
  /** Where the rest begins; undefined at the end of the file. */
  next: LinePosition | undefined
}

/** Finds the start of a line; if there are fewer lines, that of the last one. The stream begins after the byte order
 *  mark. */
export async function findLine(
  stream: AsyncIterable<Uint8Array>,
  { encoding, bomBytes }: TextFormat,
  wantedLine: number,
): Promise<LinePosition> {
  let position: LinePosition = { line: 1, byte: bomBytes }
  if (wantedLine === 1) return position
  const unit = codeUnitBytes(encoding)
  let from = bomBytes
  let rest = new Uint8Array()
  for await (const chunk of stream) {
    if (position.line === wantedLine && chunk.length > 0) return position
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % unit)
    for (let at = 0; ; ) {
      const end = lineEnd(bytes.subarray(0, whole), at, encoding)
      if (end < 0) break
      // A line break at the end of the file does not start a line.
      at = end + unit
      position = { line: position.line + 1, byte: from + at }
      if (position.line === wantedLine && at < whole) return position
    }
    from += whole
    rest = bytes.subarray(whole)
  }
  return position.byte < from || position.line === 1 ? position : { ...position, line: position.line - 1 }
}

/** Takes as many lines as fit, from a position on. `window` begins at that position; `isWhole` is true if it reaches
 *  the end of the file. A single line that is too long is cut. */
export function takeLines(
  window: Uint8Array,
  isWhole: boolean,
  { encoding }: TextFormat,
  from: LinePosition,
  { endLine, maxLines, maxChars, numbers }: LineSliceLimits,
): LineSlice {
  const slice: LineSlice = { first: from.line, lines: [], rendered: [], next: undefined }
  const unit = codeUnitBytes(encoding)
  let chars = 0
  let at = 0
  while (at < window.length) {
    const line = from.line + slice.lines.length
    const position = { line, byte: from.byte + at }
    if (slice.lines.length === maxLines || line > endLine) return { ...slice, next: position }
    const end = lineEnd(window, at, encoding)
    const isOpen = end < 0 && !isWhole
    if (isOpen && slice.lines.length > 0) return { ...slice, next: position }
    const bytes = window.subarray(at, end < 0 ? window.length : end)
    const text = decode(bytes, encoding).replace(/\r$/, "")
    const prefix = numbers ? `${line}\t` : ""
    chars += prefix.length + text.length + 1
    const isTooLong = isOpen || chars > maxChars + 1
    if (isTooLong && slice.lines.length > 0) return { ...slice, next: position }
    if (isTooLong) {
      const cut = characterBoundaryBefore(bytes, maxChars - prefix.length, encoding)
      const part = decode(bytes.subarray(0, cut), encoding)
      return { ...slice, lines: [part], rendered: [prefix + part], next: { line, byte: position.byte + cut } }
    }
    slice.lines.push(text)
    slice.rendered.push(prefix + text)
    at = end < 0 ? window.length : end + unit
  }
  return isWhole ? slice : { ...slice, next: { line: from.line + slice.lines.length, byte: from.byte + at } }
}

/** The number of lines. A line break at the end does not start another line. */
export function countLines(bytes: Uint8Array, { encoding }: Pick<TextFormat, "encoding">): number {
  const unit = codeUnitBytes(encoding)
  let count = 0
  for (let at = 0; at < bytes.length; count++) {
    const end = lineEnd(bytes, at, encoding)
    at = end < 0 ? bytes.length : end + unit
  }
  return count
}

/** The index of the next line break; -1 if there is none. */
export function lineEnd(bytes: Uint8Array, from: number, encoding: Encoding): number {
  if (codeUnitBytes(encoding) === 1) return bytes.indexOf(0x0a, from)
  const [first, second] = encoding === "utf-16le" ? [0x0a, 0] : [0, 0x0a]
  for (let at = from; at + 1 < bytes.length; at += 2) if (bytes[at] === first && bytes[at + 1] === second) return at
  return -1
}

export function codeUnitBytes(encoding: Encoding): 1 | 2 {
  return encoding.startsWith("utf-16") ? 2 : 1
}

// Never cuts within a character. Uses at most as many bytes as characters may be shown.
function characterBoundaryBefore(bytes: Uint8Array, maxBytes: number, encoding: Encoding): number {
  let cut = Math.min(maxBytes, bytes.length)
  if (encoding === "latin1") return cut
  if (encoding === "utf-8") {
    for (let back = 0; back < 3 && ((bytes[cut] ?? 0) & 0xc0) === 0x80; back++) cut--
    return cut
  }
  cut -= cut % 2
  const high = bytes[encoding === "utf-16le" ? cut - 1 : cut - 2] ?? 0
  return high >= 0xd8 && high <= 0xdb ? cut - 2 : cut
}
