// Wraps the lines of Markdown text.

/** Breaks lines after at most `width` characters. Items of lists are indented; indented lines stay as they are. */
export function wrapText(text: string, width = 120): string {
  return text
    .split("\n")
    .map((line) => (line.startsWith("    ") || line.startsWith("#") ? line : wrapLine(line, width)))
    .join("\n")
}

function wrapLine(line: string, width: number): string {
  const indent = line.startsWith("- ") ? "  " : ""
  const lines: string[] = []
  let current = ""
  for (const word of line.split(" ")) {
    if (current !== "" && current.length + 1 + word.length > width) {
      lines.push(current)
      current = indent + word
      continue
    }
    current = current === "" ? word : `${current} ${word}`
  }
  return [...lines, current].join("\n")
}
