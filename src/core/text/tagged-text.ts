// Text of a program, a tool, a file or another agent reaches the model between tags or in a code block. It must not be able to end that block,
// because what follows would look as if Karst or the user had said it.

/** A text between `<tag>` and `</tag>`, which it cannot close itself in any spelling. A tag is letters and hyphens. */
export function taggedText(tag: string, text: string, attributes = ""): string {
  return `<${tag}${attributes}>\n${escapeClosingTag(tag, text)}\n</${tag}>`
}

/** Code in a fence that is longer than any fence that begins a line inside. */
export function codeBlock(tag: string, code: string): string {
  const runs = code.match(/^[ \t]*`{3,}/gm) ?? []
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.trim().length + 1)))
  return `${fence}${tag}\n${code}\n${fence}`
}

/** A name or reason for a list: one line without control characters, cut where it is long. */
export function oneLine(text: string, maxChars = 500): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim()
  return line.length > maxChars ? `${line.slice(0, maxChars).toWellFormed()}…` : line
}

/** A text in which no line begins with a title of the list it is shown in. `titles` is a pattern for one, without its beginning of a line. */
export function escapeTitles(text: string, titles: RegExp): string {
  return text.replace(new RegExp(`^([ \\t]*)(?=${titles.source})`, "gimu"), "$1\\")
}

/** An entry of a list: its further lines are indented, so none of them can look like another entry or heading. */
export function indentFurtherLines(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(/\n/g, "\n  ")
}

// Spaces, invisible characters and full-width forms are read past by a model.
const invisible = "\\u00ad\\u200b-\\u200f\\u2060-\\u2064\\ufeff"

function escapeClosingTag(tag: string, text: string): string {
  const gap = `[\\s${invisible}]*`
  const spelled = [...tag].join(`[${invisible}]*`)
  return text.replace(new RegExp(`([<＜])(?=${gap}[/／]${gap}${spelled}(?!\\w))`, "giu"), "$1\\")
}
