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
  let sourceCursor = 0
  // Pairs of offsets (text, source) where a copied stretch begins.
  const stretches: number[] = []
  let mappedOffset = -1

  const write = (text: string) => {
    pieces.push(text)
    length += text.length
  }

  return {
    copyTo(offset) {
      if (offset <= sourceCursor) return
      if (mappedOffset !== -1) stretches.push(length, mappedOffset, length + 1, sourceCursor + 1)
      else stretches.push(length, sourceCursor)
      mappedOffset = -1
      write(code.slice(sourceCursor, offset))
      sourceCursor = offset
    },
    write,
    skipTo(offset) {
      for (; sourceCursor < offset; sourceCursor++)
        if (isLineBreak(code.charCodeAt(sourceCursor))) write(code.charAt(sourceCursor))
    },
    mapNextCharacterTo(offset) {
      mappedOffset = offset
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
