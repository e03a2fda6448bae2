// Draws bar charts with block characters.
import type { Paint } from "./paint.ts"
import { safeLine } from "./safe-text.ts"
import { textWidth, truncateToWidth } from "./text-width.ts"

export interface Bars {
  labels: readonly string[]
  values: readonly number[]
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** Draws a line for each value, to an eighth of a column. No line is wider than `columns`. */
export function drawBars({ labels, values }: Bars, columns: number, bar: Paint): string[] {
  const most = Math.max(0, ...values)
  const widest = (texts: string[]) => Math.max(0, ...texts.map(textWidth))
  const names = labels.map((label) => truncateToWidth(safeLine(label), Math.floor(columns / 2)))
  const nameWidth = widest(names)
  const room = Math.max(1, columns - nameWidth - 2 - widest(values.map(roundedText)))
  return names.map((name, index) => {
    const value = values[index] ?? 0
    const steps = most === 0 ? 0 : Math.round((Math.max(0, value) / most) * room * 8)
    const blocks = "█".repeat(Math.floor(steps / 8)) + (eighths[steps % 8] ?? "")
    return `${name}${" ".repeat(nameWidth - textWidth(name))} ${bar(blocks)} ${roundedText(value)}`
  })
}

/** Returns the number with at most one decimal. */
export function roundedText(value: number): string {
  return String(Math.round(value * 10) / 10)
}
