// Collects the text of a compiled cell and maps its positions to the source. The source is copied up to an offset,
// changed there, and copied on; line numbers stay the same.
import { isLineBreak } from "../text-positions.ts"

export interface CodeOutput {
  /** Copies the source up to an offset, unless it was passed already. */
  copyTo(offset: number): void
  /** Writes text that is not in the source; it must not contain line breaks. */
  write(text: string): void
  /** Leaves out the source up to an offset, except its line breaks. */
  skipTo(offset: number): void
  /** Maps the next copied character to another offset of the source. */
  mapNextCharacterTo(offset: number): void
  text(): string
  /** The source offset of an offset in the text; inserted text maps to the source after it. */
  sourceOffset(offset: number): number
}

export function createCodeOutput(code: string): CodeOutput {
  // Joined at the end, because the engine would have to flatten an incrementally built string before compiling it.
  const pieces: string[] = []
  let length = 0
  let cursor = 0
  // Pairs of offsets (text, source) where a copied stretch begins.
  const stretches: number[] = []
  let anchored = -1

  const write = (added: string) => {
    pieces.push(added)
    length += added.length
  }

  return {
    copyTo(offset) {
      if (offset <= cursor) return
      if (anchored !== -1) stretches.push(length, anchored, length + 1, cursor + 1)
      else stretches.push(length, cursor)
      anchored = -1
      write(code.slice(cursor, offset))
      cursor = offset
    },
    write,
    skipTo(offset) {
      for (; cursor < offset; cursor++) if (isLineBreak(code.charCodeAt(cursor))) write(code.charAt(cursor))
    },
    mapNextCharacterTo(offset) {
      anchored = offset
    },
    text: () => pieces.join(""),
    sourceOffset(offset) {
      let index = stretches.length - 2
      while (index > 0 && (stretches[index] ?? 0) > offset) index -= 2
      const [start = 0, source = 0, , next = code.length] = stretches.slice(Math.max(index, 0))
      return Math.max(source, Math.min(source + offset - start, next))
    },
  }
}
