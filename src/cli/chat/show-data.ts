// Draws the value of a variable: rows as a table, numbers as a chart, anything else as text.
import { isRecord } from "../../core/object.ts"
import { drawBars } from "../../display/draw-bars.ts"
import { drawTable } from "../../display/draw-table.ts"
import type { Palette } from "../../display/paint.ts"
import { safeLine, safeText } from "../../display/safe-text.ts"
import { wrapText } from "../../display/text-flow.ts"
import { truncateToWidth } from "../../display/text-width.ts"
import { showValue } from "../../runtime/show/show-value.ts"

const maxRows = 20
const maxBars = 40
const maxTextLength = 200_000
const maxTextLines = 2000
const maxCellWidth = 40

export function drawData(value: unknown, columns: number, paint: Palette): string[] {
  const bars = toBars(value)
  if (bars) return drawBars(bars, Math.min(columns, 80), paint.blue)
  const rows = toRows(value)
  if (rows) return drawRows(rows, columns, paint)
  return drawText(typeof value === "string" ? value : showValue(value).text, columns, paint)
}

/** Wraps a text. Of a long one the beginning is shown: a terminal does not keep more. */
export function drawText(text: string, columns: number, paint: Palette): string[] {
  const start = text.slice(0, maxTextLength).toWellFormed()
  const lines = safeText(start)
    .split("\n")
    .flatMap((line) => wrapText(line, columns))
    .slice(0, maxTextLines)
  const left = text.length - lines.reduce((sum, line) => sum + line.length + 1, 0)
  const isWhole = start === text && lines.length < maxTextLines
  return isWhole ? lines : [...lines, paint.dim(`… about ${Math.max(left, 1).toLocaleString("en-US")} more characters`)]
}

function drawRows(rows: readonly Record<string, unknown>[], columns: number, paint: Palette): string[] {
  const shown = rows.slice(0, maxRows)
  const names = [...new Set(shown.flatMap((row) => Object.keys(row)))]
  const table = shown.map((row) => names.map((name) => cellText(row[name])))
  const left = rows.length - shown.length
  const note = left > 0 ? [paint.dim(`… ${left} more rows`)] : []
  return [...drawTable([names.map(safeLine), ...table], columns, paint), ...note]
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return ""
  const text = typeof value === "object" ? showValue(value, 100).text : String(value)
  return truncateToWidth(safeLine(text), maxCellWidth)
}

/** A list of objects with at least one key. */
function toRows(value: unknown): Record<string, unknown>[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every((row) => isRecord(row) && Object.keys(row).length > 0) ? value : undefined
}

/** Numbers: a list, an object of numbers, or an object with `labels` and `values`. */
function toBars(value: unknown): { labels: string[]; values: number[] } | undefined {
  if (isNumbers(value))
    return toChart(
      value.map((_, index) => String(index)),
      value,
    )
  if (!isRecord(value) || Array.isArray(value)) return undefined
  const { labels, values } = value
  if (Array.isArray(labels) && isNumbers(values) && labels.length === values.length)
    return toChart(labels.map(String), values)
  const numbers = Object.values(value)
  return isNumbers(numbers) ? toChart(Object.keys(value), numbers) : undefined
}

function toChart(labels: string[], values: number[]): { labels: string[]; values: number[] } | undefined {
  const isChart = values.length > 1 && values.length <= maxBars && values.every((each) => each >= 0)
  return isChart ? { labels, values } : undefined
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isFinite(each))
}
