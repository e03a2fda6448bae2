// Prints results: rows as a table, times, and JSON.
import { safeLine } from "../display/safe-text.ts"
import { textWidth, truncateToWidth } from "../display/text-width.ts"

/** Prints rows in aligned columns. The last column is cut to the width of the terminal. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const safe = rows.map((row) => row.map(safeLine))
  const widths = safe.reduce<number[]>(
    (all, row) => row.map((cell, column) => Math.max(all[column] ?? 0, textWidth(cell))),
    [],
  )
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY
  for (const row of safe) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - textWidth(cell)),
    )
    process.stdout.write(`${truncateToWidth(cells.join("  "), columns - 1)}\n`)
  }
}

/** `2026-11-16 07:30`, in local time; with seconds `2026-11-16 07:30:05`. */
export function formatTime(at: number, { seconds = false } = {}): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return "unknown"
  const local = new Date(at - date.getTimezoneOffset() * 60_000)
  return local
    .toISOString()
    .slice(0, seconds ? 19 : 16)
    .replace("T", " ")
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
}
