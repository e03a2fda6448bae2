// The edits of a line editor as pure functions: a text with a cursor and a key give the next text and cursor.
import { graphemes } from "../../display/text-width.ts"
import type { KeyName } from "./keys.ts"

export interface EditedText {
  text: string
  /** A position between two user-perceived characters. */
  cursor: number
}

export const emptyText: EditedText = { text: "", cursor: 0 }

/** Returns the text with the cursor at its end. */
export function editedText(text: string): EditedText {
  return { text, cursor: text.length }
}

export function insertText({ text, cursor }: EditedText, added: string): EditedText {
  return atBoundary(text.slice(0, cursor) + added + text.slice(cursor), cursor + added.length)
}

/** Replaces the characters from `start` up to the cursor. */
export function replaceBeforeCursor({ text, cursor }: EditedText, start: number, added: string): EditedText {
  return insertText({ text: text.slice(0, start) + text.slice(cursor), cursor: start }, added)
}

/** Applies a key. Returns undefined if the key does not edit, as up in the first line. */
export function pressEditKey(edited: EditedText, key: KeyName): EditedText | undefined {
  const { text, cursor } = edited
  const before = text.slice(0, cursor)
  const after = text.slice(cursor)
  const lineStart = before.lastIndexOf("\n") + 1
  const lineEnd = cursor + (after.includes("\n") ? after.indexOf("\n") : after.length)
  switch (key) {
    case "newline":
      return insertText(edited, "\n")
    case "backspace":
      return remove(edited, previous(before), cursor)
    case "delete":
      return remove(edited, cursor, cursor + nextLength(after))
    case "delete-word":
      return remove(edited, wordStart(before), cursor)
    case "delete-to-start":
      return remove(edited, lineStart, cursor)
    case "delete-to-end":
      return remove(edited, cursor, lineEnd === cursor ? Math.min(text.length, cursor + 1) : lineEnd)
    case "left":
      return { text, cursor: previous(before) }
    case "right":
      return { text, cursor: cursor + nextLength(after) }
    case "word-left":
      return { text, cursor: wordStart(before) }
    case "word-right":
      return atBoundary(text, cursor + (/^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(after)?.[0].length ?? 0))
    case "line-start":
      return { text, cursor: lineStart }
    case "line-end":
      return { text, cursor: lineEnd }
    case "up":
      return lineStart === 0 ? undefined : toLine(text, text.lastIndexOf("\n", lineStart - 2) + 1, cursor - lineStart)
    case "down":
      return lineEnd === text.length ? undefined : toLine(text, lineEnd + 1, cursor - lineStart)
    default:
      return undefined
  }
}

function remove({ text }: EditedText, start: number, end: number): EditedText {
  return atBoundary(text.slice(0, start) + text.slice(end), start)
}

function previous(before: string): number {
  return before.length - (graphemes(before).at(-1)?.length ?? 0)
}

function nextLength(after: string): number {
  return graphemes(after)[0]?.length ?? 0
}

function wordStart(before: string): number {
  const found = /[\p{L}\p{N}]*[^\p{L}\p{N}]*$/u.exec(before)?.[0].length ?? 0
  return atBoundary(before, before.length - found).cursor
}

function toLine(text: string, start: number, column: number): EditedText {
  const end = text.indexOf("\n", start)
  return atBoundary(text, Math.min(start + column, end === -1 ? text.length : end))
}

/** Moves the cursor to the end of the character that it is in, because an edit may join characters to one. */
function atBoundary(text: string, cursor: number): EditedText {
  let end = 0
  for (const grapheme of graphemes(text)) {
    if (end >= cursor) break
    end += grapheme.length
  }
  return { text, cursor: end }
}
