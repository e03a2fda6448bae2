// Checks texts of types that a child wrote. The model sees them as TypeScript, so they must contain TypeScript types
// and nothing else.
import { attempt } from "../../core/attempt.ts"
import { type AnyNode, isTypeOnly, parseCell } from "../compiler/parse-cell.ts"
import { parseVariableType } from "../declare/author-source.ts"
import { tableNotePattern } from "../declare/table-counts.ts"

/** Splits the mark of inferred types from a type. The type is `any` if the text is not exactly one type, is too long or
 *  has other comments than the counts of a table. */
export function parseChildType(text: string, name: string): { type: string; note?: string | undefined } {
  if (text.length > maxTypeLength) return { type: "any" }
  const [firstLine = ""] = text.split("\n", 1)
  const note = inferredMark.exec(firstLine)
  const type = note ? firstLine.slice(0, note.index) + text.slice(firstLine.length) : text
  if (hasComment(type.replaceAll(tableNotes, "")) || !attempt(() => parseVariableType(type, name))) {
    return { type: "any" }
  }
  return { type, note: note?.[1] }
}

const inferredMark = / \/\/ (inferred(?: from (?:1 row|all [\d,]+ rows|the first [\d,]+ of [\d,]+ rows))?)$/
const tableNotes = new RegExp(` // ${tableNotePattern}$`, "gm")

function hasComment(type: string): boolean {
  // A string without an end is removed as well: looking for its end from each quote would take too long.
  const withoutStrings = type.replaceAll(/"(?:[^"\\\n]|\\(?:\r\n|.))*"?|'(?:[^'\\\n]|\\(?:\r\n|.))*'?/gs, "")
  return /\/[/*]|`/.test(withoutStrings)
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
