// Reads the rows of Markdown tables.
import { inlineText } from "./markdown-spans.ts"

export function isTableRow(line: string): boolean {
  return /^ {0,3}\|/.test(line)
}

/** The cells of a table, its head first. Undefined for a single row, or rows without a rule below the first one: they
 *  are no table. */
export function tableRows(lines: readonly string[]): string[][] | undefined {
  const [head = "", rule = "", ...body] = lines
  const isTable = rule.includes("-") && /^[\s|:-]*$/.test(rule)
  return isTable ? [head, ...body].map(cellsOf) : undefined
}

/** Splits a row at its bars; a bar in code or after a backslash belongs to the cell. */
function cellsOf(row: string): string[] {
  const cells =
    row
      .trim()
      .replace(/^\|/, "")
      .match(/(?:\\[\s\S]|`[^`]*`|`(?![^`]*`)|[^|\\`]|\\$)*(?:\||$)/g) ?? []
  const texts = cells.map((cell) => inlineText(cell.replace(/\|$/, "").replaceAll("\\|", "|").trim()))
  return texts.at(-1) === "" ? texts.slice(0, -1) : texts
}
