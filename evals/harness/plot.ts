// Draws the plots of reports as SVG. Colours and text come from the page's CSS variables and follow its theme.
import { escapeHtml } from "./markup.ts"
import type { Plot } from "./suite.ts"

const width = 760
const height = 300
const frame = { left: 64, right: 12, top: 12, bottom: 46 }

/** Returns a figure with its title, its legend and the drawing. */
export function drawPlot(plot: Plot): string {
  const legend = plot.series
    .map(({ name }, index) => `<span class="key"><i style="background:${colour(index)}"></i>${escapeHtml(name)}</span>`)
    .join("")
  const drawing = plot.type === "bars" ? drawBars(plot) : drawLines(plot)
  return (
    `<figure><figcaption>${escapeHtml(plot.title)} <small>(${escapeHtml(plot.unit)})</small></figcaption>` +
    `<div class="legend">${legend}</div>` +
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(plot.title)}">${drawing}</svg></figure>`
  )
}

function drawBars({ groups, series }: Extract<Plot, { type: "bars" }>): string {
  const values = series.flatMap((each) => each.values).filter(Number.isFinite)
  const y = axis(Math.min(0, ...values), Math.max(0, ...values))
  const groupWidth = (width - frame.left - frame.right) / Math.max(1, groups.length)
  const barWidth = Math.min(46, (groupWidth * 0.8) / Math.max(1, series.length))
  const bars = groups.flatMap((group, index) => {
    const middle = frame.left + groupWidth * (index + 0.5)
    const start = middle - (barWidth * series.length) / 2
    const label = `<text class="label" x="${middle}" y="${height - frame.bottom + 18}">${escapeHtml(group)}</text>`
    return [label, ...series.map((each, place) => bar(each, index, start + barWidth * place, barWidth, place, y))]
  })
  return grid(y) + bars.join("")
}

function bar(
  { name, values }: { name: string; values: number[] },
  group: number,
  x: number,
  barWidth: number,
  place: number,
  y: Axis,
): string {
  const value = values[group]
  if (value === undefined || !Number.isFinite(value)) return ""
  const top = Math.min(y.at(value), y.at(0))
  const size = Math.max(1, Math.abs(y.at(value) - y.at(0)))
  const label =
    barWidth >= 30 ? `<text class="value" x="${x + barWidth / 2}" y="${top - 4}">${short(value)}</text>` : ""
  return (
    `<rect x="${round(x + 1)}" y="${round(top)}" width="${round(barWidth - 2)}" height="${round(size)}" rx="2" ` +
    `fill="${colour(place)}"><title>${escapeHtml(name)}: ${short(value)}</title></rect>${label}`
  )
}

function drawLines({ series, xTitle }: Extract<Plot, { type: "lines" }>): string {
  const points = series.flatMap((each) => each.points)
  const y = axis(0, Math.max(0, ...points.map(([, value]) => value)))
  const from = Math.min(...points.map(([x]) => x))
  const to = Math.max(...points.map(([x]) => x))
  const x = (value: number) =>
    frame.left + ((value - from) / Math.max(1e-9, to - from)) * (width - frame.left - frame.right)
  const lines = series.map(({ name, points: own }, place) => {
    const path = own.map(([at, value]) => `${round(x(at))},${round(y.at(value))}`).join(" ")
    const dots = own.map(
      ([at, value]) =>
        `<circle cx="${round(x(at))}" cy="${round(y.at(value))}" r="3" fill="${colour(place)}">` +
        `<title>${escapeHtml(name)}, ${short(at)}: ${short(value)}</title></circle>`,
    )
    return `<polyline points="${path}" fill="none" stroke="${colour(place)}" stroke-width="2"/>${dots.join("")}`
  })
  const labels = [...new Set(points.map(([at]) => at))].map(
    (at) => `<text class="label" x="${round(x(at))}" y="${height - frame.bottom + 18}">${short(at)}</text>`,
  )
  const title = `<text class="label" x="${width / 2}" y="${height - 8}">${escapeHtml(xTitle)}</text>`
  return grid(y) + lines.join("") + labels.join("") + title
}

interface Axis {
  marks: number[]
  at(value: number): number
}

/** A vertical axis with round marks that covers both values. */
function axis(low: number, high: number): Axis {
  const span = high - low || 1
  const rough = span / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const first = Math.floor(low / step)
  const last = Math.ceil(high / step)
  const marks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
  const bottom = height - frame.bottom
  const scale = (bottom - frame.top) / ((last - first) * step)
  return { marks, at: (value) => bottom - (value - first * step) * scale }
}

function grid({ marks, at }: Axis): string {
  return marks
    .map((mark) => {
      const y = round(at(mark))
      const line = `<line class="${mark === 0 ? "zero" : "grid"}" x1="${frame.left}" x2="${width - frame.right}" y1="${y}" y2="${y}"/>`
      return `${line}<text class="mark" x="${frame.left - 8}" y="${y + 4}">${short(mark)}</text>`
    })
    .join("")
}

function colour(index: number): string {
  return `var(--series-${(index % 6) + 1})`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function short(value: number): string {
  if (Math.abs(value) >= 1_000_000) return `${Math.round(value / 10_000) / 100}M`
  if (Math.abs(value) >= 100_000) return `${Math.round(value / 1000)}k`
  if (Math.abs(value) >= 10_000) return `${round(value / 1000)}k`
  return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 })
}
