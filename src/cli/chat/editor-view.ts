// Lays out the edited text for the terminal: wrapped lines after the prompt sign, and the row and column of the cursor.
import { graphemes, graphemeWidth, textWidth } from "../../display/text-width.ts"
import type { EditedText } from "./line-editor.ts"

export interface EditorLayout {
  lines: string[]
  /** The row of the cursor in `lines`, and its column. */
  row: number
  column: number
}

/** Wraps the text at `columns`. If it has more than `maxRows` lines, those around the cursor are returned. */
export function layoutEditor(
  { text, cursor }: EditedText,
  { mark, columns, maxRows }: { mark: string; columns: number; maxRows: number },
): EditorLayout {
  const indent = " ".repeat(textWidth(mark))
  const lines = [""]
  let width = 0
  let at = 0
  let place = { row: 0, column: 0 }
  const startLine = () => {
    lines.push("")
    width = 0
  }
  for (const grapheme of graphemes(text)) {
    const columnsNeeded = grapheme === "\n" ? 0 : graphemeWidth(grapheme)
    if (indent.length + width + columnsNeeded > columns) startLine()
    if (at === cursor) place = { row: lines.length - 1, column: width }
    at += grapheme.length
    if (grapheme === "\n") startLine()
    else {
      lines[lines.length - 1] += grapheme
      width += columnsNeeded
    }
  }
  // The cursor after the last character needs a column as well.
  if (at === cursor && indent.length + width + 1 > columns) startLine()
  if (at === cursor) place = { row: lines.length - 1, column: width }
  const shown = lines.map((line, row) => (row === 0 ? mark : indent) + line)
  const first = Math.max(0, Math.min(place.row - Math.floor(maxRows / 2), shown.length - maxRows))
  return {
    lines: shown.slice(first, first + maxRows),
    row: place.row - first,
    column: indent.length + place.column,
  }
}
