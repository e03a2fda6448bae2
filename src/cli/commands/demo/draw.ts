// Draws the demo's charts as SVG.
import { roundedText } from "../../../display/draw-bars.ts"
import { safeLine } from "../../../display/safe-text.ts"
import type { Chart } from "./objects.ts"

/** Draws a chart as a self-contained SVG. */
export function drawSvg({ title, unit, labels, values }: Chart): string {
  const plot = { left: 64, top: 72, width: 640, height: 260 }
  const most = niceCeiling(Math.max(0, ...values))
  const y = (value: number) => plot.top + plot.height * (1 - Math.max(0, value) / most)
  const step = plot.width / Math.max(1, values.length)
  const bottom = plot.top + plot.height

  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(most * part)
    return `<line x1="${plot.left}" x2="${plot.left + plot.width}" y1="${at}" y2="${at}" stroke="#dde3ea"/>
  <text x="${plot.left - 10}" y="${at + 4}" text-anchor="end" fill="#6b7785" font-size="12">${roundedText(most * part)}</text>`
  })
  const bars = values.map((value, index) => {
    const x = plot.left + step * (index + 0.15)
    const middle = x + step * 0.35
    const top = y(value)
    return `<rect x="${fixed(x)}" y="${fixed(top)}" width="${fixed(step * 0.7)}" height="${fixed(bottom - top)}" rx="3" fill="#2f7fb8"/>
  <text x="${fixed(middle)}" y="${fixed(top - 6)}" text-anchor="middle" fill="#2b3640" font-size="11">${roundedText(value)}</text>
  <text x="${fixed(middle)}" y="${bottom + 20}" text-anchor="middle" fill="#2b3640" font-size="12">${xml(labels[index] ?? "")}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 380" width="740" height="380" font-family="system-ui, sans-serif" role="img">
  <title>${xml(title)}</title>
  <rect width="740" height="380" fill="#ffffff"/>
  <text x="${plot.left}" y="36" fill="#1b242c" font-size="18" font-weight="600">${xml(title)}</text>
  <text x="${plot.left}" y="56" fill="#6b7785" font-size="12">${xml(unit)}</text>
  ${grid.join("\n  ")}
  ${bars.join("\n  ")}
</svg>
`
}

// Returns 1, 2, 2.5 or 5 times a power of ten, so that a quarter of the axis is a round number.
function niceCeiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= value) ?? 10) * power
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function xml(text: string): string {
  return safeLine(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
