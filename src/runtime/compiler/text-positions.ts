// Converts between offsets in a text and line and column.
/** Line and column count from 1, as in stacks. */
export interface Position {
  line: number
  column: number
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(lineBreak)
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 }
}

export function offsetAt(text: string, { line, column }: Position): number {
  let start = 0
  const breaks = text.matchAll(lineBreaks)
  for (let left = line; left > 1; left--) {
    const { value } = breaks.next()
    if (!value) break
    start = value.index + value[0].length
  }
  return start + column - 1
}

export function isLineBreak(charCode: number): boolean {
  return charCode === 10 || charCode === 13 || charCode === 0x2028 || charCode === 0x2029
}

const lineBreak = /\r\n|[\n\r\u2028\u2029]/
const lineBreaks = new RegExp(lineBreak, "g")

/** The offset of the first token after spaces and comments. */
export function firstTokenOffset(code: string): number {
  let at = 0
  for (;;) {
    spaceOrComment.lastIndex = at
    if (!spaceOrComment.test(code)) return at
    at = spaceOrComment.lastIndex
  }
}

// Spaces, or one comment. An unterminated comment does not match; the parser reports it.
const spaceOrComment = /\s+|\/\/.*|\/\*[\s\S]*?\*\//y
