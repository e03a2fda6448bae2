// Checks texts of types that a child wrote. The model sees them as TypeScript, so they must contain TypeScript types
// and nothing else.
import { attempt } from "../../core/attempt.ts"
import { type AnyNode, isTypeOnly, parseCell } from "../compiler/parse-cell.ts"
import { parseVariableType } from "../declare/author-source.ts"

/** Returns the text if it is exactly one type and not too long, or else `any`. */
export function validTypeText(text: string, name: string): string {
  if (text.length > maxTypeLength) return "any"
  return attempt(() => parseVariableType(text, name)) ? text : "any"
}

/** Returns true if the text contains only declarations of the given values and of types that the host does not
 *  declare, and no executable statement. */
export function declaresOnly(text: string, names: readonly string[], hostText: string): boolean {
  if (text.length > Math.min(maxDeclarationsLength, maxTypeLength * names.length) || text.includes("```")) return false
  const statements = parseDeclarations(text)
  const hostNames = new Set(parseDeclarations(hostText)?.flatMap(declaredNames))
  return !!statements?.every((statement) => {
    const declared = declaredNames(statement)
    const isTypeName = /^TS(Interface|TypeAlias)Declaration$/.test(statement.type)
    return declared.length > 0 && declared.every((name) => (isTypeName ? !hostNames.has(name) : names.includes(name)))
  })
}

function parseDeclarations(text: string): readonly AnyNode[] | undefined {
  const statements = attempt(() => parseCell(text).program.body)
  return statements?.every(isTypeOnly) ? statements : undefined
}

function declaredNames(statement: AnyNode): string[] {
  const declared = "declarations" in statement ? statement.declarations : [statement]
  return declared.flatMap((node) => {
    const id = "id" in node ? node.id : undefined
    return id?.type === "Identifier" ? [id.name] : []
  })
}

/** Shortens a type to one line. */
export function shortTypeText(text: string): string {
  const line = text.slice(0, maxShortTypeLength).replace(/\s+/g, " ")
  return text.length > maxShortTypeLength ? `${line}…` : line
}

const maxTypeLength = 20_000
const maxDeclarationsLength = 500_000
const maxShortTypeLength = 200
