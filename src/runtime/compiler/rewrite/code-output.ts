import { isLineBreak } from "../text-positions.ts"

/** The text of a compiled cell, written from left to right: the source is copied up to a place, changed there, and
 *  copied on. Every line of the source stays the line it was. */
export interface CodeOutput {
  /** Copies the source up to an offset; nothing happens when it is behind. */
  copyTo(offset: number): void
  /** Writes text that is not in the source; it must not contain line breaks. */
  write(text: string): void
  /** Leaves out the source up to an offset, but for its line breaks. */
  skipTo(offset: number): void
  /** Lets the next character that is copied stand for another place in the source. */
  mapNextCharacterTo(offset: number): void
  text(): string
  /** The source offset behind an offset of the text; for text that is not in the source, of what follows it. */
  sourceOffset(offset: number): number
}

export function createCodeOutput(code: string): CodeOutput {
  // Joined at the end: the engine would have to flatten a text that grew piece by piece before it compiles it.
  const pieces: string[] = []
  let length = 0
  let cursor = 0
  // Pairs of offsets, in the text and in the source, where a copied stretch begins.
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
