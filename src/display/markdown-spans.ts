// Finds spans of Markdown within a line: bold, italic, code and links.
export interface Span {
  text: string
  style: "bold" | "italic" | "cyan" | "blue" | "plain"
  length: number
}

/** Returns the span at the start of the text; undefined until its end has arrived. `before` is the character before. */
export function nextSpan(text: string, before: string): Span | undefined {
  const escaped = /^\\([!-/:-@[-`{-~])/.exec(text)
  if (escaped) return { text: escaped[1] ?? "", style: "plain", length: 2 }
  if (/^\\./.test(text)) return { text: "\\", style: "plain", length: 1 }
  const code = /^(`+)(?!`)(.+?)(?<!`)\1(?!`)/.exec(text)
  if (code) return { text: code[2]?.trim() ?? "", style: "cyan", length: code[0].length }
  if (text.startsWith("`")) return undefined
  if (text.startsWith("[")) return linkSpan(text)
  const [mark = ""] = /^(?:\*+|_+)/.exec(text) ?? []
  // Marks inside a word, before a space, or in rows of more than three are plain text.
  const opens = mark.length <= 3 && !/[\p{L}\p{N}]/u.test(before) && !/^\s/.test(text.slice(mark.length))
  if (mark && text.length > mark.length && !opens) return { text: mark, style: "plain", length: mark.length }
  const closing = mark.startsWith("_") ? "(?![\\p{L}\\p{N}])" : ""
  const end =
    mark &&
    new RegExp(`^(.*?[^\\s${mark[0]}])[${mark[0]}]{${mark.length}}${closing}`, "u").exec(text.slice(mark.length))
  if (!end) return undefined
  const inner = (end[1] ?? "").replaceAll("`", "")
  return { text: inner, style: mark.length === 1 ? "italic" : "bold", length: end[0].length + mark.length }
}

/** Shows a link as its text and its address. Other brackets are plain text. */
function linkSpan(text: string): Span | undefined {
  const [whole, label = "", address = ""] = /^\[([^[\]]{1,400})\]\(([^\s()]{1,1000})\)/.exec(text) ?? []
  if (whole !== undefined) {
    const name = inlineText(label)
    return { text: name === address ? name : `${name} (${address})`, style: "blue", length: whole.length }
  }
  const mayBecomeLink = /^\[[^[\]]{0,400}(?:\](?:\([^\s()]{0,1000})?)?$/.test(text)
  return mayBecomeLink ? undefined : { text: "[", style: "plain", length: 1 }
}

/** Returns a text without the marks of its spans. */
export function inlineText(text: string): string {
  let rest = text
  let shown = ""
  while (rest !== "") {
    const start = rest.search(/[*_`\\[]/)
    if (start === -1) return shown + rest
    shown += rest.slice(0, start)
    rest = rest.slice(start)
    const span = nextSpan(rest, shown.at(-1) ?? "") ?? { text: rest[0] ?? "", length: 1 }
    shown += span.text
    rest = rest.slice(span.length)
  }
  return shown
}
