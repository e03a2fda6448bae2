// Draws tables for the terminal: columns as wide as they need, wrapped between words where the screen is too narrow.
import type { Palette } from "./paint.ts"
import { wrapText } from "./text-flow.ts"
import { textWidth } from "./text-width.ts"

const gap = 2
const minColumn = 6

/** Draws rows of cells, which must be free of control sequences. The first row is the head. No line is wider than
 *  `columns`; if not even narrow columns fit, each row becomes a list of its cells. */
export function drawTable(rows: readonly (readonly string[])[], columns: number, paint: Palette): string[] {
  const [head = [], ...body] = rows
  const count = Math.max(0, ...rows.map((row) => row.length))
  if (count * minColumn + (count - 1) * gap > columns) return drawList(head, body, columns, paint)
  const widths = fitColumns(rows, count, columns)
  const isNumber = widths.map((_, column) => body.length > 0 && body.every((row) => isNumeric(row[column] ?? "")))
  const drawRow = (row: readonly string[]) => {
    const cells = widths.map((width, column) => wrapText(row[column] ?? "", width))
    const height = Math.max(1, ...cells.map((lines) => lines.length))
    return Array.from({ length: height }, (_, line) =>
      cells.map((lines, column) => pad(lines[line] ?? "", widths[column] ?? 0, isNumber[column])).join(" ".repeat(gap)),
    ).map((line) => line.trimEnd())
  }
  const rule = widths.map((width) => "─".repeat(width)).join(" ".repeat(gap))
  return [...drawRow(head).map(paint.bold), paint.dim(rule), ...body.flatMap(drawRow)]
}

const isNumeric = (text: string) => /^(?:[-+]?[\d,. ]+%?)?$/.test(text.trim())

/** Returns the widths of the columns: the widest ones are made narrower until all fit. */
function fitColumns(rows: readonly (readonly string[])[], count: number, columns: number): number[] {
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.map((row) => textWidth(row[column] ?? ""))),
  )
  const room = columns - (count - 1) * gap
  let excess = widths.reduce((sum, width) => sum + width, 0) - room
  while (excess > 0) {
    const widest = Math.max(...widths)
    const second = Math.max(minColumn, ...widths.filter((width) => width < widest))
    const atWidest = widths.flatMap((width, index) => (width === widest ? [index] : []))
    const less = Math.max(1, Math.min(widest - second, Math.ceil(excess / atWidest.length)))
    for (const index of atWidest) {
      const step = Math.min(less, excess)
      widths[index] = widest - step
      excess -= step
      if (excess <= 0) break
    }
  }
  return widths
}

function drawList(head: readonly string[], body: readonly (readonly string[])[], columns: number, paint: Palette) {
  const lines = body.map((row) => head.map((name, column) => `${name}: ${row[column] ?? ""}`))
  return lines.flatMap((row, index) => [
    ...(index > 0 ? [paint.dim("─".repeat(Math.min(columns, 8)))] : []),
    ...row.flatMap((line) => wrapText(line, columns)),
  ])
}

function pad(text: string, width: number, right = false): string {
  const space = " ".repeat(Math.max(0, width - textWidth(text)))
  return right ? space + text : text + space
}
