import { isTypeOnly, parseCell } from "../compiler/parse-cell.ts"
import { parseVariableType } from "../declare/author-source.ts"

// Texts of types that a child wrote. They are shown to a model as TypeScript, so they must be TypeScript and nothing else.

/** The text of one type; `any` for a text that is too long, or more than one type. */
export function validTypeText(text: string, name: string): string {
  if (text.length > longestType) return "any"
  try {
    parseVariableType(text, name)
    return text
  } catch {
    return "any"
  }
}

/** Whether a text is a list of declarations, without a statement that does something. */
export function isDeclarationList(text: string): boolean {
  if (text.length > longestDeclarations) return false
  try {
    return parseCell(text).program.body.every(isTypeOnly)
  } catch {
    return false
  }
}

/** The type of a name in a few words, on one line. */
export function shortTypeText(text: string): string {
  const line = text.slice(0, longestShortType).replace(/\s+/g, " ")
  return text.length > longestShortType ? `${line}…` : line
}

const longestType = 20_000
const longestDeclarations = 500_000
const longestShortType = 200
