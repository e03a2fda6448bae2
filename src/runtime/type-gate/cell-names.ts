import type { AnyNode, ParsedCell } from "../compiler/parse-cell.ts"
import { analyseScope } from "../compiler/scope-analysis.ts"
import { type Trust, weakestTrust } from "./type-trust.ts"
import type { CheckResult } from "./typescript-checker.ts"

/** What is known of a name that a cell made: its type, from the cell's own TypeScript. */
export interface CellName {
  kind: "value" | "class" | "type"
  /** Declares it. */
  text: string
  trust: Trust
}

/** The names that the cells of one runtime made. A type is good for as long as the name has the value it had when the
 *  cell that made it ended; the types alone, which have no value, stay until they are declared again. */
export interface CellNames {
  /** What is known of the names there are now. */
  current(values: Values): Map<string, CellName>
  /** Takes note of what a cell made. A name that has the value it had before was not made: the cell did not get there, or
   *  was rolled back. */
  remember(made: ReadonlyMap<string, CellName>, values: Values, before: Values): void
}

type Values = ReadonlyMap<string, unknown>

export function createCellNames(): CellNames {
  const names = new Map<string, CellName & { value: unknown }>()
  return {
    current(values) {
      const there = [...names].filter(
        ([name, { kind, value }]) => kind === "type" || (values.has(name) && Object.is(values.get(name), value)),
      )
      return new Map(there)
    },
    remember(declared, values, before) {
      const made = [...declared].filter(([name, { kind }]) => {
        if (kind === "type") return true
        return values.has(name) && !(before.has(name) && Object.is(values.get(name), before.get(name)))
      })
      for (const [name, { kind }] of made) {
        names.delete(name)
        if (kind === "value") continue
        // What was made with the old class or type is not what the new one of that name says.
        const mention = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`)
        for (const [other, { text }] of names) if (mention.test(text)) names.delete(other)
      }
      for (const [name, known] of made) names.set(name, { ...known, value: values.get(name) })
      const oldest = names.keys()
      while (names.size > maxNames) names.delete(oldest.next().value ?? "")
    },
  }
}

/** The names a cell declares on its own level, with the types the checker found for them. */
export function namesDeclaredBy(
  cell: ParsedCell,
  checked: CheckResult,
  trustOf: (name: string) => Trust,
): Map<string, CellName> {
  const made = new Map<string, CellName>()
  for (const { name, kind, text } of typesDeclaredIn(cell)) made.set(name, { kind, text, trust: "computed" })
  const places = [...(analyseScope(cell).cell.names?.values() ?? [])].flatMap(({ name, kind, node }) =>
    node && !made.has(name) && kindsWithTypes.has(kind) ? [{ name, start: node.start }] : [],
  )
  if (places.length === 0 || places.length > maxTyped) return made
  const types = checked.typesAt(places.map(({ start }) => start))
  places.forEach(({ name }, index) => {
    const type = types[index]
    if (type === undefined || unprintable.test(type) || type.length > maxTypeLength) return
    made.set(name, {
      kind: "value",
      text: `declare let ${name}: ${type}`,
      trust: weakestTrust("computed", trustOf(name)),
    })
  })
  return made
}

export interface OwnType {
  name: string
  kind: "class" | "type"
  text: string
}

/** The types a cell declares on its own level, as it wrote them. Classes and enums are values too. */
export function typesDeclaredIn({ code, program }: ParsedCell): OwnType[] {
  return program.body.flatMap((statement): OwnType[] => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    // The parser's own types do not have TypeScript's statements where statements stand.
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
/** Text that stands for a type but is none. */
const unprintable = /\(Anonymous|import\(|unique symbol|\.\.\. \d+ more/
const maxNames = 500
/** Asking for a type costs a fraction of a millisecond; a cell that makes more names than this is left untyped. */
const maxTyped = 40
const maxTypeLength = 4_000
