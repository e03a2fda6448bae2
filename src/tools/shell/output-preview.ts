// Keeps the beginning and the end of a command's output, and makes bytes readable.
import { stripTerminalSequences } from "../../core/text/terminal-text.ts"

export interface Excerpt {
  head: string
  /** Empty if nothing was left out. */
  tail: string
  /** The number of bytes between head and tail. */
  leftOut: number
}

export function createPreview(maxBytes: number) {
  const tailBytes = Math.ceil(maxBytes * tailShare)
  let first: Uint8Array = Buffer.alloc(0)
  let last: Uint8Array = Buffer.alloc(0)
  let total = 0

  function add(chunk: Uint8Array): void {
    total += chunk.length
    if (first.length < maxBytes) first = Buffer.concat([first, chunk.subarray(0, maxBytes - first.length)])
    // Copied, because a view of a chunk would retain the whole chunk.
    last = Buffer.concat([last, chunk.subarray(-tailBytes)])
    if (last.length > tailBytes) last = Buffer.from(last.subarray(-tailBytes))
  }

  return {
    add,
    /** Returns the output since the last call. Unless the command has ended, an incomplete character at the end is
     *  left for the next call. */
    take(ended: boolean): Excerpt {
      const incomplete = ended ? new Uint8Array() : Buffer.from(last.subarray(last.length - incompleteBytesAtEnd(last)))
      const excerpt =
        total <= maxBytes ? wholeExcerpt(first, incomplete.length) : bothEnds(first, last, total, incomplete.length)
      first = last = Buffer.alloc(0)
      total = 0
      add(incomplete)
      return excerpt
    },
  }

  function bothEnds(first: Uint8Array, last: Uint8Array, total: number, incomplete: number): Excerpt {
    const start = first.subarray(0, maxBytes - tailBytes)
    const head = untilLineEnd(start.subarray(0, start.length - incompleteBytesAtEnd(start)))
    const tail = fromLineStart(last.subarray(incompleteBytesAtStart(last), last.length - incomplete))
    return {
      head: toReadableText(head),
      tail: toReadableText(tail),
      leftOut: total - head.length - tail.length - incomplete,
    }
  }
}

/** Bytes as readable text: invalid bytes replaced, terminal sequences removed, and of a line that was overwritten
 *  only the last version. */
export function toReadableText(bytes: Uint8Array): string {
  const text = stripTerminalSequences(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))
  const lines = text.split("\n").map((line) => lastOverwrite(line))
  const shown = lines.join("\n").replace(controls, replacement)
  const strange = shown.split(replacement).length - 1
  return strange > shown.length / 10 ? `(${bytes.length} bytes that are no text)` : shown
}

// Errors are usually at the end.
const tailShare = 2 / 3
const replacement = "\u{fffd}"
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

function lastOverwrite(line: string): string {
  const content = line.endsWith("\r") ? line.slice(0, -1) : line
  return content.slice(content.lastIndexOf("\r") + 1)
}

function wholeExcerpt(bytes: Uint8Array, incomplete: number): Excerpt {
  return { head: toReadableText(bytes.subarray(0, bytes.length - incomplete)), tail: "", leftOut: 0 }
}

// Cuts at a line end if that loses little.
function untilLineEnd(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(0x0a)
  return end > bytes.length / 2 ? bytes.subarray(0, end + 1) : bytes
}

function fromLineStart(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0x0a)
  return end !== -1 && end < bytes.length / 2 ? bytes.subarray(end + 1) : bytes
}

/** The number of bytes at the end that are the start of an incomplete character. */
function incompleteBytesAtEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back) ?? 0
    if (isContinuation(byte)) continue
    return characterBytes(byte) > back ? back : 0
  }
  return 0
}

/** The number of bytes at the start that are the end of a cut character. */
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
