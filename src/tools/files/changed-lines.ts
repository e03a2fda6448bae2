// Shows the lines of an edited file that contain changes, and the numbers of lines with matches.
import { codeUnitBytes, lineEnd } from "./read-lines.ts"
import type { ByteRange } from "./replace-bytes.ts"
import { decode, type Encoding } from "./text-encoding.ts"

/** Returns the lines that contain the ranges, each with its number, shortened if there are many. A range without bytes
 *  stands for a removed text: the line at its place is shown. */
export function changedLines(bytes: Buffer, ranges: readonly ByteRange[], encoding: Encoding): string {
  const shown: string[] = []
  let total = 0
  for (const { number, start, end } of linesWith(bytes, ranges, encoding)) {
    if (++total > maxLines) continue
    const isGap = shown.length > 0 && !shown.at(-1)?.startsWith(`${number - 1}\t`)
    const text = decode(bytes.subarray(start, Math.min(end, start + maxLineBytes)), encoding).replace(/\r$/, "")
    if (isGap) shown.push("…")
    shown.push(`${number}\t${end - start > maxLineBytes ? `${text}…` : text}`)
  }
  return [...shown, ...(total > maxLines ? [`… ${total - maxLines} more changed lines`] : [])].join("\n")
}

/** Returns the numbers of the lines in which the first ranges begin, for a message. */
export function lineNumbers(bytes: Buffer, ranges: readonly ByteRange[], encoding: Encoding): string {
  const starts = ranges.slice(0, 10).map(({ start }) => ({ start, end: start }))
  const numbers = Array.from(linesWith(bytes, starts, encoding), ({ number }) => number)
  const more = ranges.length > 10 ? ` and ${ranges.length - 10} more` : ""
  return `${numbers.join(", ")}${more}`
}

interface Line {
  number: number
  start: number
  /** The byte after its text, without the line break. */
  end: number
}

// Yields the lines that contain a byte of a range, in order, each once.
function* linesWith(bytes: Buffer, ranges: readonly ByteRange[], encoding: Encoding): Generator<Line> {
  const lastByte = Math.max(0, bytes.length - 1)
  const places = ranges
    .map(({ start, end }) => ({ first: Math.min(start, lastByte), last: Math.min(Math.max(start, end - 1), lastByte) }))
    .toSorted((one, other) => one.first - other.first)
  const unit = codeUnitBytes(encoding)
  let index = 0
  // The last byte of the ranges that begin before the end of the line.
  let covered = -1
  for (let number = 1, start = 0; start <= lastByte; number++) {
    const found = lineEnd(bytes, start, encoding)
    const end = found < 0 ? bytes.length : found
    const next = found < 0 ? bytes.length : found + unit
    for (; index < places.length && (places[index]?.first ?? 0) < Math.max(next, 1); index++) {
      covered = Math.max(covered, places[index]?.last ?? 0)
    }
    if (covered >= start) yield { number, start, end }
    if (next >= bytes.length || (index === places.length && covered < next)) return
    start = next
  }
}

const maxLines = 40
const maxLineBytes = 400
