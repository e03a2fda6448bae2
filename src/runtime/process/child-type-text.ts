// Checks texts of types that a child wrote. The model sees them as TypeScript, so they must contain TypeScript types
// and nothing else.
import { attempt } from "../../core/attempt.ts"
import { isTypeOnly, parseCell } from "../compiler/parse-cell.ts"
import { parseVariableType } from "../declare/author-source.ts"

/** Returns the text if it is exactly one type and not too long, or else `any`. */
export function validTypeText(text: string, name: string): string {
  if (text.length > maxTypeLength) return "any"
  return attempt(() => parseVariableType(text, name)) ? text : "any"
}

/** Returns true if the text contains only declarations and no executable statement. */
export function isDeclarationList(text: string): boolean {
  if (text.length > maxDeclarationsLength) return false
  return attempt(() => parseCell(text).program.body.every(isTypeOnly)) ?? false
}

/** Shortens a type to one line. */
export function shortTypeText(text: string): string {
  const line = text.slice(0, maxShortTypeLength).replace(/\s+/g, " ")
  return text.length > maxShortTypeLength ? `${line}…` : line
}

const maxTypeLength = 20_000
const maxDeclarationsLength = 500_000
const maxShortTypeLength = 200
