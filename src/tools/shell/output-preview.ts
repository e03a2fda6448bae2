import { stripTerminalSequences } from "../../core/text/terminal-text.ts"

/** The beginning and the end of what a command wrote: all that is kept of it in memory. */
export interface OutputPreview {
  add(chunk: Uint8Array): void
  /** What came since the last time. While more may come, a character of which only a part is there waits for the next time. */
  take(ended: boolean): Excerpt
}

export interface Excerpt {
  head: string
  /** Empty when nothing was left out. */
  tail: string
  /** In bytes, between the two. */
  leftOut: number
}

export function createPreview(maxBytes: number): OutputPreview {
  const tailBytes = Math.ceil(maxBytes * tailShare)
  let first: Uint8Array = Buffer.alloc(0)
  let last: Uint8Array = Buffer.alloc(0)
  let total = 0

  function add(chunk: Uint8Array): void {
    total += chunk.length
    if (first.length < maxBytes) first = Buffer.concat([first, chunk.subarray(0, maxBytes - first.length)])
    // What is not needed is not held: a part of a chunk would keep all of it in memory.
    last = Buffer.concat([last, chunk.subarray(-tailBytes)])
    if (last.length > tailBytes) last = Buffer.from(last.subarray(-tailBytes))
  }

  return {
    add,
    take(ended) {
      const waiting = ended ? new Uint8Array() : Buffer.from(last.subarray(last.length - incompleteBytesAtEnd(last)))
      const excerpt =
        total <= maxBytes ? wholeExcerpt(first, waiting.length) : bothEnds(first, last, total, waiting.length)
      first = last = Buffer.alloc(0)
      total = 0
      add(waiting)
      return excerpt
    },
  }

  function bothEnds(first: Uint8Array, last: Uint8Array, total: number, waiting: number): Excerpt {
    const start = first.subarray(0, maxBytes - tailBytes)
    const head = untilLineEnd(start.subarray(0, start.length - incompleteBytesAtEnd(start)))
    const tail = fromLineStart(last.subarray(incompleteBytesAtStart(last), last.length - waiting))
    return {
      head: toReadableText(head),
      tail: toReadableText(tail),
      leftOut: total - head.length - tail.length - waiting,
    }
  }
}

/** Bytes as a model can read them: invalid ones replaced, without the control sequences of a terminal, of a line that was
 *  written over and over only what stood there last. */
export function toReadableText(bytes: Uint8Array): string {
  const text = stripTerminalSequences(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))
  const lines = text.split("\n").map((line) => lastOverwrite(line))
  const shown = lines.join("\n").replace(controls, replacement)
  const strange = shown.split(replacement).length - 1
  return strange > shown.length / 10 ? `(${bytes.length} bytes that are no text)` : shown
}

// Errors stand at the end.
const tailShare = 2 / 3
const replacement = "\u{fffd}"
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

function lastOverwrite(line: string): string {
  const content = line.endsWith("\r") ? line.slice(0, -1) : line
  return content.slice(content.lastIndexOf("\r") + 1)
}

function wholeExcerpt(bytes: Uint8Array, waiting: number): Excerpt {
  return { head: toReadableText(bytes.subarray(0, bytes.length - waiting)), tail: "", leftOut: 0 }
}

// Cut at a line end where that loses little.
function untilLineEnd(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(0x0a)
  return end > bytes.length / 2 ? bytes.subarray(0, end + 1) : bytes
}

function fromLineStart(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0x0a)
  return end !== -1 && end < bytes.length / 2 ? bytes.subarray(end + 1) : bytes
}

/** How many bytes at the end are the beginning of a character. */
function incompleteBytesAtEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back) ?? 0
    if (isContinuation(byte)) continue
    return characterBytes(byte) > back ? back : 0
  }
  return 0
}

/** How many bytes at the start are the end of a character that was cut. */
function incompleteBytesAtStart(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => !isContinuation(byte))
  return start === -1 ? 0 : start
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

function characterBytes(byte: number): number {
  if (byte >= 0xf0 && byte < 0xf8) return 4
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1
  return byte >= 0xc0 ? 2 : 1
}
