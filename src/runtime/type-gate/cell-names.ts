// Stores the types of the names that cells declared, for the checks of later cells.
import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import { analyseScope } from "../compiler/scope-analysis.ts"
import { type Trust, weakestTrust } from "./type-trust.ts"
import type { CheckResult } from "./typescript-checker.ts"

export interface CellName {
  kind: "value" | "class" | "type"
  /** The declaration of the name. */
  text: string
  trust: Trust
}

type Values = ReadonlyMap<string, unknown>

/** A type is valid while the name has the value that it had when its cell ended. Interfaces and type aliases, which
 *  have no value, are valid until they are declared again. */
export function createCellNames() {
  const names = new Map<string, CellName & { value: unknown }>()
  return {
    /** Returns the names whose types are still valid. */
    current(values: Values): Map<string, CellName> {
      const current = [...names].filter(
        ([name, { kind, value }]) => kind === "type" || (values.has(name) && Object.is(values.get(name), value)),
      )
      return new Map(current)
    },
    /** Stores the names that a cell declared. A name that has the same value as before is ignored: the cell did not
     *  reach its declaration, or was rolled back. */
    remember(declared: ReadonlyMap<string, CellName>, values: Values, before: Values): void {
      const declaredNames = [...declared].filter(([name, { kind }]) => {
        if (kind === "type") return true
        return values.has(name) && !(before.has(name) && Object.is(values.get(name), before.get(name)))
      })
      for (const [name, { kind }] of declaredNames) {
        names.delete(name)
        if (kind === "value") continue
        // Forget types that mention the old class or type of this name.
        const mention = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`)
        for (const [other, { text }] of names) if (mention.test(text)) names.delete(other)
      }
      for (const [name, known] of declaredNames) names.set(name, { ...known, value: values.get(name) })
      const oldest = names.keys()
      while (names.size > maxNames) names.delete(oldest.next().value ?? "")
    },
  }
}

/** Returns the top-level names of a cell with the types that the checker found. */
export function namesDeclaredBy(
  cell: ParsedCell,
  checked: CheckResult,
  trustOf: (name: string) => Trust,
): Map<string, CellName> {
  const declaredNames = new Map<string, CellName>()
  for (const { name, kind, text } of typesDeclaredIn(cell)) declaredNames.set(name, { kind, text, trust: "computed" })
  const places = [...(analyseScope(cell).cell.names?.values() ?? [])].flatMap(({ name, kind, node }) =>
    node && !declaredNames.has(name) && kindsWithTypes.has(kind) ? [{ name, start: node.start }] : [],
  )
  if (places.length === 0 || places.length > maxTyped) return declaredNames
  const types = checked.typesAt(places.map(({ start }) => start))
  places.forEach(({ name }, index) => {
    const type = types[index]
    if (type === undefined || unprintable.test(type) || type.length > maxTypeLength) return
    declaredNames.set(name, {
      kind: "value",
      text: `declare let ${name}: ${type}`,
      trust: weakestTrust("computed", trustOf(name)),
    })
  })
  return declaredNames
}

export interface OwnType {
  name: string
  kind: "class" | "type"
  text: string
}

/** Returns the top-level types of a cell, with their source. Classes and enums are values too. */
export function typesDeclaredIn({ code, program }: ParsedCell): OwnType[] {
  return program.body.flatMap((statement): OwnType[] => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    // The parser's types do not include TypeScript's statements.
    const node = declaration as AnyNode | null | undefined
    switch (node?.type) {
      case "ClassDeclaration":
      case "TSEnumDeclaration":
        return node.id ? [{ name: node.id.name, kind: "class", text: code.slice(node.start, node.end) }] : []
      case "TSInterfaceDeclaration":
      case "TSTypeAliasDeclaration":
        return node.id ? [{ name: node.id.name, kind: "type", text: code.slice(node.start, node.end) }] : []
      default:
        return []
    }
  })
}

const kindsWithTypes = new Set(["var", "let", "const", "using", "await using", "function"])
/** Output of the checker that is not a valid type. */
const unprintable = /\(Anonymous|import\(|unique symbol|\.\.\. \d+ more/
const maxNames = 500
/** Reading a type takes a fraction of a millisecond. A cell that declares more names than this gets no types. */
const maxTyped = 40
const maxTypeLength = 4_000
