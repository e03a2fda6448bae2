// Puts text from programs, tools, files and other agents into blocks for the model. Such text must not be able to end
// its block, because what follows would look as if Karst or the user had said it.

/** Puts a text between `<tag>` and `</tag>`. Closing tags inside the text are escaped in every spelling. A tag
 *  consists of letters and hyphens. */
export function taggedText(tag: string, text: string, attributes = ""): string {
  return `<${tag}${attributes}>\n${escapeClosingTag(tag, text)}\n</${tag}>`
}

/** Puts code into a fence that is longer than any fence that starts a line of the code. */
export function codeBlock(tag: string, code: string): string {
  const runs = code.match(/^[ \t]*`{3,}/gm) ?? []
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.trim().length + 1)))
  return `${fence}${tag}\n${code}\n${fence}`
}

/** A name or reason for a list: one line without control characters, shortened if long. */
export function oneLine(text: string, maxChars = 500): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
  return line.length > maxChars ? `${line.slice(0, maxChars).toWellFormed()}…` : line
}

/** Lists the first `max` items, one line each, and how many more there are. */
export function listFirst<T>(items: readonly T[], max: number, describe: (item: T) => string, bullet = ""): string[] {
  const lines = items.slice(0, max).map((item) => `${bullet}${describe(item)}`)
  return items.length > max ? [...lines, `${bullet}and ${items.length - max} more`] : lines
}

/** Escapes lines that start like a title of the list in which the text is shown. `titles` is a pattern for a title,
 *  without `^`. */
export function escapeTitles(text: string, titles: RegExp): string {
  return text.replace(new RegExp(`^([ \\t]*)(?=${titles.source})`, "gimu"), "$1\\")
}

/** Indents all lines but the first, so that none of them looks like another list entry or heading. */
export function indentFurtherLines(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(/\n/g, "\n  ")
}

// Models read past spaces, invisible characters and full-width forms.
const invisible = "\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff"

function escapeClosingTag(tag: string, text: string): string {
  if (!text.includes("<") && !text.includes("＜")) return text
  const gap = `[\\s${invisible}]*`
  const spelled = [...tag].join(`[${invisible}]*`)
  return text.replace(new RegExp(`([<＜])(?=${gap}[/／]${gap}${spelled}(?!\\w))`, "giu"), "$1\\")
}
