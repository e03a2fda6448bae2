// Pieces of HTML made from untrusted text: escaped, highlighted, folded if long.
import { createHighlighter } from "../../display/highlight.ts"
import { isTableRow, tableRows } from "../../display/markdown-table.ts"
import { safeText } from "../../display/safe-text.ts"

/** Text that is safe to put into a page as it is. Only the functions of this file and `html` make it. */
export interface Html {
  readonly html: string
}

/** Joins literal HTML and values; every value that is not `Html` is escaped. */
export function html(literals: TemplateStringsArray, ...values: (Html | readonly Html[] | string | number)[]): Html {
  const parts = literals.map((literal, index) => literal + (index < values.length ? markup(values[index] ?? "") : ""))
  return { html: parts.join("") }
}

export const noHtml: Html = { html: "" }

function markup(value: Html | readonly Html[] | string | number): string {
  if (typeof value === "string" || typeof value === "number") return escapeHtml(String(value))
  return "html" in value ? value.html : value.map((each) => each.html).join("")
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }

function escapeHtml(text: string): string {
  return safeText(text).replace(/[&<>"']/g, (character) => entities[character] ?? "")
}

/** Code with its tokens in spans, folded if it is long. */
export function codeHtml(code: string, language: string): Html {
  return foldLong(code, (part) => html`<pre class="code">${highlight(part, language)}</pre>`)
}

/** Output as it is, folded if it is long. */
export function outputHtml(text: string, kind: "output" | "error"): Html {
  if (text.trim() === "") return noHtml
  return foldLong(text, (part) => html`<pre class="${kind}">${part}</pre>`)
}

/** Prose of a model or a person: fenced code, tables, headings, bold and code spans are shown as such. */
export function proseHtml(text: string): Html {
  if (text.trim() === "") return noHtml
  return foldLong(text.trim(), (part) => html`<div class="prose">${proseParts(part)}</div>`, proseLimits)
}

function highlight(code: string, language: string): Html[] {
  const highlighter = createHighlighter(language)
  const segments = [...highlighter.add(safeText(code).replace(/\n$/, "")), ...highlighter.end()]
  return segments.map(({ text, style }) => (style === "plain" ? html`${text}` : html`<i class="${style}">${text}</i>`))
}

interface FoldLimits {
  lines: number
  chars: number
}

const codeLimits: FoldLimits = { lines: 30, chars: 3000 }
const proseLimits: FoldLimits = { lines: 40, chars: 4000 }

/** Shows the beginning of a long text; the rest opens with a click, which needs no script. */
function foldLong(text: string, render: (text: string) => Html, limits = codeLimits): Html {
  const lines = text.split("\n")
  if (lines.length <= limits.lines && text.length <= limits.chars) return render(text)
  const start = lines
    .slice(0, Math.ceil(limits.lines / 3))
    .join("\n")
    .slice(0, Math.ceil(limits.chars / 3))
    .toWellFormed()
  const rest = text.length - start.length
  return html`<details class="fold"><summary>${render(start)}<span class="more">… ${rest.toLocaleString("en-US")} more characters</span></summary>${render(text)}</details>`
}

function proseParts(text: string): Html[] {
  const parts: Html[] = []
  let plain: string[] = []
  let fenced: { mark: string; language: string; lines: string[] } | undefined
  const endPlain = () => {
    parts.push(html`${linesHtml(plain)}`)
    plain = []
  }
  for (const line of text.split("\n")) {
    const [, mark = "", language = ""] = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/.exec(line) ?? []
    if (fenced && line.trim().startsWith(fenced.mark)) {
      parts.push(codeHtml(fenced.lines.join("\n"), fenced.language))
      fenced = undefined
    } else if (fenced) fenced.lines.push(line)
    else if (mark !== "") {
      endPlain()
      fenced = { mark, language, lines: [] }
    } else plain.push(line)
  }
  endPlain()
  if (fenced) parts.push(codeHtml(fenced.lines.join("\n"), fenced.language))
  return parts
}

/** Lines outside of fences: tables, and the lines between them. */
function linesHtml(lines: readonly string[]): Html[] {
  const parts: Html[] = []
  let table: string[] = []
  const endTable = () => {
    const rows = tableRows(table)
    parts.push(...(rows ? [tableHtml(rows)] : table.flatMap(proseLine)))
    table = []
  }
  for (const line of lines) {
    if (isTableRow(line)) table.push(line)
    else {
      endTable()
      parts.push(...proseLine(line))
    }
  }
  endTable()
  return parts
}

function tableHtml([head = [], ...rows]: string[][]): Html {
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)
  return html`<div class="table"><table><tr>${head.map((cell) => html`<th>${cell}</th>`)}</tr>${body}</table></div>`
}

function proseLine(line: string): Html[] {
  const [, mark = "", title = ""] = /^(#{1,6})\s+(.*)$/.exec(line) ?? []
  if (mark !== "") return [html`<b class="heading">${title}</b>\n`]
  // Longer lines are not prose, and searching them for spans could take long.
  if (line.length > 5000) return [html`${line}\n`]
  const spans = line.split(/(`[^`]+`|\*\*[^*]+\*\*)/)
  return [...spans.map(spanHtml), html`\n`]
}

function spanHtml(span: string): Html {
  if (/^`[^`]+`$/.test(span)) return html`<code>${span.slice(1, -1)}</code>`
  if (/^\*\*[^*]+\*\*$/.test(span)) return html`<b>${span.slice(2, -2)}</b>`
  return html`${span}`
}
