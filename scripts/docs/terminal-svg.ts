// Draws screens of a terminal, as `tmux capture-pane -e` prints them, as one SVG that plays them in order.
import { textWidth } from "../../src/display/text-width.ts"
import { escapeHtml } from "./markdown-page.ts"

export interface Frame {
  /** The lines of the screen with their escape sequences. */
  lines: string[]
  /** How long it is shown. The last frame stays. */
  ms: number
}

interface Style {
  color?: string | undefined
  bold?: boolean
  dim?: boolean
  italic?: boolean
}

interface Segment {
  column: number
  text: string
  style: Style
}

const cell = { width: 8.4, height: 18, fontSize: 14 }
const padding = 16
const background = "#15181c"
const foreground = "#d7dade"
const palette = ["#5c6370", "#f07178", "#8fd694", "#e6c07b", "#6cb6ff", "#d2a8ff", "#5fd7d7", "#d7dade"]

/** Rows that occur in several frames are drawn once and used again. Readers who do not want motion see the last one. */
export function terminalSvg(frames: Frame[], title: string): string {
  const screens = frames.map(({ lines }) => styledLines(lines))
  const columns = Math.max(...screens.flat().map(widthOf))
  const width = Math.ceil(columns * cell.width + 2 * padding)
  const height = Math.max(...screens.map(({ length }) => length)) * cell.height + 2 * padding
  const rows = new Map<string, string>()
  const drawn = screens.map((lines) => lines.map((line, index) => use(row(line), index, rows)).join(""))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(title)}">
<style>text{font:${cell.fontSize}px ui-monospace,"Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${foreground};white-space:pre}
${animation(frames)}</style>
<rect width="${width}" height="${height}" rx="8" fill="${background}" stroke="#31373d"/>
<defs>
${[...rows].map(([html, id]) => `<g id="${id}">${html}</g>`).join("\n")}
</defs>
${drawn.map((screen, index) => `<g id="f${index}">${screen}</g>`).join("\n")}
</svg>
`
}

/** Shows one frame after the other, and then the last one. */
function animation(frames: Frame[]): string {
  const total = frames.reduce((sum, { ms }) => sum + ms, 0)
  const last = frames.length - 1
  let start = 0
  const rules = frames.map(({ ms }, index) => {
    const before = index === 0 ? "" : "0%{visibility:hidden}"
    const end = index === last ? "" : `${percent(start + ms, total)}{visibility:hidden}`
    const steps = `${before}${percent(start, total)}{visibility:visible}${end}`
    start += ms
    return `#f${index}{animation:k${index} ${total}ms step-end}@keyframes k${index}{${steps}}`
  })
  const hidden = frames.slice(0, -1).map((_, index) => `#f${index}`)
  return `${hidden.join(",")}{visibility:hidden}
@media (prefers-reduced-motion:no-preference){
${rules.join("\n")}
}`
}

/** The segments of each line with their styles: colours, bold, dim and italic. A style lasts beyond its line. */
export function styledLines(lines: string[]): Segment[][] {
  let style: Style = {}
  return lines.map((line) => {
    const segments: Segment[] = []
    let column = 0
    for (const [, codes, text = ""] of line.matchAll(/\x1b\[([\d;]*)m|((?:(?!\x1b\[[\d;]*m)[\s\S])+)/g)) {
      if (codes !== undefined) style = applyCodes(style, codes)
      else {
        segments.push({ column, text, style })
        column += textWidth(text)
      }
    }
    return segments
  })
}

function applyCodes(style: Style, codes: string): Style {
  const numbers = codes.split(";").map(Number)
  let next = style
  for (let index = 0; index < numbers.length; index++) {
    const code = numbers[index] ?? 0
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 3) next = { ...next, italic: true }
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 23) next = { ...next, italic: false }
    else if (code >= 30 && code <= 37) next = { ...next, color: palette[code - 30] }
    else if (code >= 90 && code <= 97) next = { ...next, color: palette[code - 90] }
    else if (code === 39) next = { ...next, color: undefined }
    // Colours of more than 16 are shown in the colour of the text.
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4
  }
  return next
}

function use(html: string, index: number, rows: Map<string, string>): string {
  if (html === "") return ""
  const id = rows.get(html) ?? `r${rows.size}`
  rows.set(html, id)
  return `<use href="#${id}" y="${index * cell.height}"/>`
}

function row(segments: Segment[]): string {
  return segments
    .filter(({ text }) => text.trim() !== "")
    .map(({ column, text, style: { color, bold, dim, italic } }) => {
      const attributes = [
        `x="${number(padding + column * cell.width)}"`,
        `y="${padding + cell.fontSize}"`,
        `textLength="${number(textWidth(text) * cell.width)}"`,
        ...(color ? [`style="fill:${color}"`] : []),
        ...(bold ? ['font-weight="bold"'] : []),
        ...(dim ? ['opacity="0.6"'] : []),
        ...(italic ? ['font-style="italic"'] : []),
      ]
      return `<text ${attributes.join(" ")} xml:space="preserve">${escapeHtml(text)}</text>`
    })
    .join("")
}

function widthOf(segments: Segment[]): number {
  const last = segments.at(-1)
  return last ? last.column + textWidth(last.text) : 0
}

function percent(ms: number, total: number): string {
  return `${number((100 * ms) / total)}%`
}

function number(value: number): string {
  return String(Math.round(value * 100) / 100)
}
