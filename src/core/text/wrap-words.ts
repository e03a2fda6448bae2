// Wraps a line of plain text between words, for help texts and Markdown files. Texts for the terminal are wrapped by
// `display/text-flow.ts`, which also knows the widths of characters and breaks long words.

/** Returns lines of at most `width` characters, except for longer words, which stay whole. `indent` begins each line
 *  after the first. */
export function wrapWords(text: string, width: number, indent = ""): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent + word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}
