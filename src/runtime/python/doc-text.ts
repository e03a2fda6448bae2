// Texts inside Python declarations: docstrings and comments. No text can end the docstring, comment or line it is in.
import { oneLine } from "../../core/text/tagged-text.ts"

/** A docstring of the lines of the text. */
export function docText(text: string, indent: string): string {
  const lines = text
    .trim()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]/gu, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll('"""', "'''")
    .replace(/"$/, '" ')
    .replaceAll("\n", `\n${indent}`)
  return `${indent}"""${lines}"""`
}

/** A comment after code on the same line; empty without a text. */
export function commentText(text: string | undefined, maxChars = Number.POSITIVE_INFINITY): string {
  const line = oneLine(text ?? "", maxChars)
  return line && `  # ${line}`
}

/** A function or method with its docstring. `head` is the text before the colon. */
export function functionBlock(head: string, doc: string | undefined): string {
  return doc === undefined ? `${head}: ...` : `${head}:\n${docText(doc, "    ")}`
}
