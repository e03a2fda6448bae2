// Wraps the lines of Markdown text.
import { wrapWords } from "../../src/core/text/wrap-words.ts"

/** Breaks lines after at most `width` characters. Items of lists are indented; indented lines stay as they are. */
export function wrapText(text: string, width = 120): string {
  return text
    .split("\n")
    .map((line) =>
      line.startsWith("    ") || line.startsWith("#")
        ? line
        : wrapWords(line, width, line.startsWith("- ") ? "  " : "").join("\n"),
    )
    .join("\n")
}
