// Turns Markdown into HTML with the anchors that GitHub gives to headings, highlighted code, and links that lead to
// pages of the site.
import { Marked, type Tokens } from "marked"
import { createHighlighter } from "../../src/display/highlight.ts"

export interface Page {
  title: string
  /** The first paragraph, as plain text. */
  summary: string
  html: string
  headings: Heading[]
  /** The text under each heading, for the search. */
  parts: { heading: Heading; text: string }[]
}

export interface Heading {
  depth: number
  text: string
  anchor: string
}

/** `link` gives the address in the site for an address in the Markdown. */
export function renderMarkdown(markdown: string, link: (href: string) => string): Page {
  const headings: Heading[] = []
  const anchors = new Map<string, number>()
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens)
        const text = plainText(html)
        const heading = { depth, text, anchor: uniqueAnchor(text, anchors) }
        headings.push(heading)
        return `<h${depth} id="${heading.anchor}"><a href="#${heading.anchor}">${html}</a></h${depth}>\n`
      },
      link({ href, title, tokens }: Tokens.Link): string {
        const hint = title ? ` title="${escapeHtml(title)}"` : ""
        return `<a href="${escapeHtml(link(href))}"${hint}>${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }: Tokens.Image): string {
        return `<img src="${escapeHtml(link(href))}" alt="${escapeHtml(text)}">`
      },
      code({ text, lang }: Tokens.Code): string {
        return codeBlock(text, lang ?? "")
      },
      table(token: Tokens.Table): string {
        const row = (cells: Tokens.TableCell[], tag: string) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>\n`
        const hasHead = token.header.some(({ text }) => text !== "")
        const head = hasHead ? `<thead>${row(token.header, "th")}</thead>` : ""
        return `<div class="table"><table>${head}<tbody>${token.rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`
      },
    },
  })
  const html = marked.parse(markdown, { async: false })
  const [, first = ""] = /<p>([\s\S]*?)<\/p>/.exec(html) ?? []
  return {
    title: headings[0]?.text ?? "",
    summary: plainText(first).replaceAll(/\s+/g, " "),
    html,
    headings,
    parts: partsOf(html, headings),
  }
}

/** The anchor that GitHub gives to a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-")
}

export function codeBlock(code: string, language: string): string {
  const highlighter = createHighlighter(language.split(/\s/)[0] ?? "")
  const html = [...highlighter.add(`${code}\n`), ...highlighter.end()]
    .map(({ text, style }) =>
      style === "plain" ? escapeHtml(text) : `<span class="${style}">${escapeHtml(text)}</span>`,
    )
    .join("")
  return `<pre tabindex="0"><code>${html}</code></pre>\n`
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
}

export function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
}

/** The anchor of a heading among those of its page: a second one with the same text gets a number. */
export function uniqueAnchor(text: string, taken: Map<string, number>): string {
  const anchor = anchorOf(text)
  const count = taken.get(anchor) ?? 0
  taken.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}

function partsOf(html: string, headings: Heading[]): Page["parts"] {
  return html
    .split(/<h[1-6] id="/)
    .slice(1)
    .map((part, index) => ({
      heading: headings[index] ?? { depth: 1, text: "", anchor: "" },
      // A space keeps the words of neighbouring cells and items apart.
      text: plainText(part.slice(part.indexOf("</h") + 5).replaceAll(/<\/(?:t[dh]|li)>/g, " "))
        .replaceAll(/\s+/g, " ")
        .trim(),
    }))
}
