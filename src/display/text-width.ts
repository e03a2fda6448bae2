// Measures and cuts text by the number of terminal columns it takes.
const ascii = /^[ -~]*$/
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
let segmenter: Intl.Segmenter | undefined

/** Returns the columns of a text without control characters. */
export function textWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let columns = 0
  for (const grapheme of graphemes(text)) columns += graphemeWidth(grapheme)
  return columns
}

/** Splits a text into user-perceived characters. */
export function graphemes(text: string): string[] {
  if (ascii.test(text)) return text.split("")
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

export function graphemeWidth(grapheme: string): number {
  if (invisible.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}

/** Returns the text, or its start with an ellipsis if it is too long. Ends it after a word unless that word is long. */
export function truncateToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  const { head, tail } = splitAtWidth(text, columns - 1)
  const whole = /^\s/.test(tail) ? head : head.replace(/(?<=\S)\s+\S{0,16}$/, "")
  return `${whole.trimEnd()}…`
}

/** Splits a text at a column. A wide character is never split. */
export function splitAtWidth(text: string, columns: number): { head: string; tail: string; used: number } {
  const room = Math.max(0, columns)
  // Checks only the start of the text, plus one character, which may combine with the last one.
  if (ascii.test(text.slice(0, room + 1))) {
    const head = text.slice(0, room)
    return { head, tail: text.slice(room), used: head.length }
  }
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })
  let used = 0
  let length = 0
  for (const { segment } of segmenter.segment(text)) {
    const more = graphemeWidth(segment)
    if (used + more > columns) break
    used += more
    length += segment.length
  }
  return { head: text.slice(0, length), tail: text.slice(length), used }
}
