// The type of a table's rows: what inspection of the first rows found, completed by the counts of all rows.
import { limitAlternatives, type ObjectType } from "./merge-types.ts"
import { type ColumnCounts, columnNote, type TableCounts } from "./table-counts.ts"
import { any, type Member, named, propertyName, type TypeTree, union } from "./type-tree.ts"

/** Maximum number of listed table columns or module functions. */
export const maxListed = 64

/** The index signature allows reading keys that are not listed. */
export const restOfKeys: Member = { name: "[key: string]", form: "field", type: any }

/** Adds the columns and kinds of values that the first rows do not have, and notes about cells that differ. */
export function withCounts(
  shape: ObjectType,
  { columns, records }: TableCounts,
  typeOf: (value: unknown) => TypeTree,
): ObjectType {
  const known = new Set(shape.members.map(({ name }) => name))
  const added = [...columns.keys()].map(propertyName).filter((name) => !known.has(name))
  const isCut = known.has(restOfKeys.name)
  const room = isCut ? 0 : Math.max(0, maxListed - known.size)
  const members: Member[] = [
    ...shape.members,
    ...added.slice(0, room).map((name): Member => ({ name, form: "field", type: named("never") })),
    ...(added.length > room && !isCut ? [restOfKeys] : []),
  ]
  const countsByName = new Map([...columns].map(([key, column]) => [propertyName(key), column]))
  return {
    kind: "object",
    members: members.map((member) => {
      const column = member.form === "field" ? countsByName.get(member.name) : undefined
      if (!column) return member
      const present = column.kinds.values().reduce((sum, cells) => sum + cells, 0)
      const note = columnNote(column, records)
      return { ...member, type: columnType(member.type, column, typeOf), optional: present < records, note }
    }),
  }
}

function columnType(
  sampled: TypeTree,
  { kinds, firstObject }: ColumnCounts,
  typeOf: (value: unknown) => TypeTree,
): TypeTree {
  const simple = [...kinds.keys()].flatMap((kind) => simpleTypes[kind] ?? [])
  const isKnown = firstObject === undefined || (sampled.kind === "union" ? sampled.parts : [sampled]).some(isObjectType)
  return limitAlternatives(union([sampled, ...simple, ...(isKnown ? [] : [typeOf(firstObject)])]))
}

function isObjectType(type: TypeTree): boolean {
  return type.kind !== "name" || !(type.text in simpleTypes || type.text === "never")
}

const simpleTypes: { [kind: string]: TypeTree } = {
  ...Object.fromEntries(
    ["string", "number", "boolean", "bigint", "symbol", "null", "undefined", "Date"].map((kind) => [kind, named(kind)]),
  ),
  NaN: named("number"),
  getter: any,
}
