// Shows tables of reports: cells as text, and tables for the terminal and for Markdown.
import type { Cell, Column, Table } from "./suite.ts"

/** Returns the text of a cell, in the format of its column. */
export function cellText(cell: Cell, { format = "text" }: Column): string {
  if (cell === undefined || cell === null) return ""
  if (typeof cell === "string") return cell
  if (!Number.isFinite(cell)) return "–"
  switch (format) {
    case "change":
      return `${sign(cell)}${Math.abs(cell * 100).toFixed(1)} %`
    case "share":
      return `${(cell * 100).toFixed(1)} %`
    default:
      return cell.toLocaleString("en", { maximumFractionDigits: Math.abs(cell) < 100 ? 1 : 0 })
  }
}

/** A table with aligned columns. */
export function terminalTable({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => rowTexts(row, columns))]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (text: string, column: number) => {
    const width = widths[column] ?? 0
    return isNumeric(columns[column]) ? text.padStart(width) : text.padEnd(width)
  }
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n")
}

export function markdownTable({ columns, rows }: Table): string {
  const line = (texts: string[]) => `| ${texts.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`
  const rule = columns.map((column) => (isNumeric(column) ? "---:" : "---"))
  return [line(columns.map(({ name }) => name)), `|${rule.join("|")}|`]
    .concat(rows.map((row) => line(rowTexts(row, columns))))
    .join("\n")
}

export function isNumeric(column: Column | undefined): boolean {
  return column?.format !== undefined && column.format !== "text"
}

export function rowTexts(row: readonly Cell[], columns: readonly Column[]): string[] {
  return columns.map((column, index) => cellText(row[index], column))
}

function sign(value: number): string {
  if (Math.abs(value) < 0.0005) return ""
  return value < 0 ? "−" : "+"
}
