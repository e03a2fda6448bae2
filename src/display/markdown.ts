// Draws Markdown while it is streamed: headings, lists, quotes, tables, bold, italic, code, links.
import { drawTable } from "./draw-table.ts"
import { createHighlighter, type Highlighter } from "./highlight.ts"
import { nextSpan } from "./markdown-spans.ts"
import { isTableRow, tableRows } from "./markdown-table.ts"
import type { Paint, Palette } from "./paint.ts"
import type { TextFlow } from "./text-flow.ts"

// A line start that may still become a heading, list mark, quote, rule or fence.
const undecidedLineStart = /^ *(?:#{0,6}|[-*+_]{1,3}|\d{1,9}[.)]?|>|`{1,2}|~{1,2})$/
const heading = /^ {0,3}(#{1,6})\s+/
const item = /^( *)([-*+]|\d{1,9}[.)])\s+/
const quote = /^ {0,3}> ?/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/

/** Longer lines are drawn in pieces, because searching them for the end of a span would take too long. */
const maxLineLength = 2000

/** Text is held until the end mark or the end of the line decides its style, so drawn text never changes. A table is
 *  held until its last row. `columns` is the width for tables. */
export function createMarkdown(flow: TextFlow, paint: Palette, columns = 80) {
  let line = ""
  let begun = false
  // True if the start of the line was drawn early because the line is too long.
  let isSplit = false
  let before = ""
  let base: Paint | undefined
  let table: string[] = []
  let code: { mark: string; highlighter: Highlighter } | undefined

  function addToLine(text: string): void {
    line += text
    if (line.length > maxLineLength) return drawLongLine()
    if (isSplit || code || fence.test(line) || isTableRow(line)) return
    if (line !== "") drawHeldTable()
    if (!begun) {
      if (undecidedLineStart.test(line)) return
      begin()
    }
    line = inline(line, false)
  }

  function drawLongLine(): void {
    isSplit = true
    drawRest("")
    line = ""
  }

  function drawRest(end: string): void {
    if (code) return addCode(line + end)
    if (!begun) begin()
    inline(line, true)
    flow.add(end)
  }

  function begin(): void {
    begun = true
    const [mark = "", level] = heading.exec(line) ?? []
    if (level) {
      base = (text) => paint.bold(paint.cyan(text))
      line = line.slice(mark.length)
      return
    }
    const [bullet = "", indent = "", sign = ""] = item.exec(line) ?? []
    if (bullet) {
      const shown = /\d/.test(sign) ? sign : "•"
      flow.add(`${indent}${shown} `, paint.cyan)
      flow.setHangingIndent(indent.length + shown.length + 1)
      line = line.slice(bullet.length)
      return
    }
    const [arrow = ""] = quote.exec(line) ?? []
    if (!arrow) return
    base = paint.dim
    flow.add("│ ", paint.dim)
    flow.setHangingIndent(2)
    line = line.slice(arrow.length)
  }

  function drawHeldTable(): void {
    if (table.length === 0) return
    const rows = tableRows(table)
    const lines = rows ? drawTable(rows, columns, paint) : table
    table = []
    for (const each of lines) flow.addLine(each)
  }

  function endLine(): void {
    const isRow = !isSplit && !code && isTableRow(line)
    if (isRow) table.push(line)
    else drawHeldTable()
    if (isRow) line = ""
    else if (isSplit) drawRest("\n")
    else if (!code && fence.test(line)) openFence()
    else if (code && line.trim().startsWith(code.mark)) closeFence()
    else if (!code && rule.test(line)) flow.add("────────\n", paint.dim)
    else drawRest("\n")
    line = ""
    begun = false
    isSplit = false
    before = ""
    base = undefined
  }

  function openFence(): void {
    const [, mark = "", language = ""] = fence.exec(line) ?? []
    code = { mark, highlighter: createHighlighter(language) }
  }

  function closeFence(): void {
    for (const { text, style } of code?.highlighter.end() ?? []) flow.add(text, paint[style])
    code = undefined
  }

  function addCode(text: string): void {
    for (const segment of code?.highlighter.add(text) ?? []) flow.add(segment.text, paint[segment.style])
  }

  // Draws the text whose style is known and returns the rest.
  function inline(text: string, last: boolean): string {
    let rest = text
    while (rest !== "") {
      const start = rest.search(/[*_`\\[]/)
      if (start !== 0) {
        const plain = start === -1 ? rest : rest.slice(0, start)
        flow.add(plain, base)
        rest = rest.slice(plain.length)
        before = plain.at(-1) ?? ""
        continue
      }
      const span = nextSpan(rest, before)
      if (!span) {
        if (!last) return rest
        flow.add(rest[0] ?? "", base)
        before = rest[0] ?? ""
        rest = rest.slice(1)
        continue
      }
      flow.add(span.text, span.style === "plain" ? base : paint[span.style])
      before = rest[span.length - 1] ?? ""
      rest = rest.slice(span.length)
    }
    return ""
  }

  return {
    add(text: string): void {
      text.split("\n").forEach((part, index) => {
        if (index > 0) endLine()
        for (let at = 0; at < part.length; at += maxLineLength) addToLine(part.slice(at, at + maxLineLength))
      })
    },
    end(): void {
      if (line) endLine()
      drawHeldTable()
      closeFence()
    },
  }
}
