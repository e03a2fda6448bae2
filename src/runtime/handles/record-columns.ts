import { types } from "node:util"
import type { Json } from "../../core/json.ts"

/** A column of an array of records: numbers and booleans as bytes, texts as JSON in a buffer of their own. */
export type Column = { name: string; kind: "number" | "boolean" | "text"; i: number }

type ColumnKind = Column["kind"]

/** Remembers the records of a table, because a record that occurs twice must be one object on the other side too. */
export interface SeenRecords {
  has(record: object): boolean
  add(record: object, row: number): void
}

/** The columns of an array whose elements are records with the same keys, and values of one primitive type per key;
 *  undefined for any other array. Columns cross several times faster than JSON. `seen` is not needed for an array that
 *  is sent alone: a column of rising numbers then proves that no record occurs twice. */
export function columnsOf(
  rows: readonly unknown[],
  seen: SeenRecords,
  isAlone: boolean,
  addBuffer: (buffer: Uint8Array) => number,
): Column[] | undefined {
  if (rows.length < fewestRows) return undefined
  const kinds = kindsOf(rows[0])
  if (!kinds) return undefined
  const names = [...kinds.keys()]
  const types = [...kinds.values()].map((kind) => (kind === "text" ? "string" : kind))
  for (let row = 0; row < rows.length; row++) if (!fits(rows[row], names, types)) return undefined
  const records = rows as readonly Record<string, unknown>[]
  if (!(isAlone && hasRisingColumn(records, kinds))) {
    for (let row = 0; row < records.length; row++) {
      const record = records[row] as object
      if (seen.has(record)) return undefined
      seen.add(record, row)
    }
  }
  return [...kinds].map(([name, kind]) => ({ name, kind, i: addBuffer(columnBytes(records, name, kind)) }))
}

/** The records of a table from its columns, which all have `length` values. */
export function recordsFrom(
  columns: readonly { name: string; values: ArrayLike<unknown> }[],
  length: number,
): object[] {
  const names = columns.map(({ name }) => name)
  const values = columns.map((column) => column.values)
  const records = new Array<object>(length)
  for (let row = 0; row < length; row++) {
    const record: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) record[names[at] as string] = values[at]?.[row]
    records[row] = record
  }
  return records
}

/** The values of a column from its bytes; undefined where they are no column of that length. */
export function columnValues(
  kind: Json | undefined,
  bytes: Uint8Array,
  length: number,
): ArrayLike<unknown> | undefined {
  if (kind === "number") return bytes.length === 8 * length ? new Float64Array(new Uint8Array(bytes).buffer) : undefined
  if (kind === "boolean") return bytes.length === length ? booleansFrom(bytes) : undefined
  if (kind !== "text") return undefined
  const texts = parsed(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  const isColumn = Array.isArray(texts) && texts.length === length && texts.every((text) => typeof text === "string")
  return isColumn ? texts : undefined
}

function booleansFrom(bytes: Uint8Array): boolean[] {
  const values = new Array<boolean>(bytes.length)
  for (let row = 0; row < bytes.length; row++) values[row] = bytes[row] === 1
  return values
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// With fewer records, JSON is as fast.
const fewestRows = 64

function kindsOf(row: unknown): ReadonlyMap<string, ColumnKind> | undefined {
  if (!isBareRecord(row)) return undefined
  const kinds = new Map<string, ColumnKind>()
  for (const key of Object.keys(row)) {
    const property = Object.getOwnPropertyDescriptor(row, key)
    const kind = kindNames.get(typeof property?.value)
    if (!kind || key === "__proto__") return undefined
    kinds.set(key, kind)
  }
  return kinds.size > 0 ? kinds : undefined
}

const kindNames = new Map<string, ColumnKind>([
  ["number", "number"],
  ["boolean", "boolean"],
  ["string", "text"],
])

function isBareRecord(row: unknown): row is Record<string, unknown> {
  if (typeof row !== "object" || row === null || types.isProxy(row)) return false
  return Object.getPrototypeOf(row) === Object.prototype
}

/** Returns whether a row has the very same keys in the same order, with values of the same types and nothing hidden. The
 *  engine caches the two lists of names for objects of one shape; `Reflect.ownKeys` builds its list anew for each row and takes
 *  ten times as long. */
function fits(row: unknown, names: readonly string[], types: readonly string[]): boolean {
  if (!isBareRecord(row)) return false
  const keys = Object.keys(row)
  if (keys.length !== names.length || Object.getOwnPropertyNames(row).length !== names.length) return false
  if (Object.getOwnPropertySymbols(row).length > 0) return false
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    if (keys[at] !== name || typeof row[name] !== types[at]) return false
  }
  return true
}

function hasRisingColumn(records: readonly Record<string, unknown>[], kinds: ReadonlyMap<string, ColumnKind>): boolean {
  return [...kinds].some(([name, kind]) => kind === "number" && rises(records, name))
}

function rises(records: readonly Record<string, unknown>[], name: string): boolean {
  let last = Number.NEGATIVE_INFINITY
  for (let row = 0; row < records.length; row++) {
    const value = records[row]?.[name] as number
    if (!(value > last)) return false
    last = value
  }
  return true
}

function columnBytes(records: readonly Record<string, unknown>[], name: string, kind: ColumnKind): Uint8Array {
  if (kind === "text") return Buffer.from(JSON.stringify(records.map((record) => record[name])))
  const column = kind === "number" ? new Float64Array(records.length) : new Uint8Array(records.length)
  for (let row = 0; row < records.length; row++) column[row] = Number((records[row] as Record<string, unknown>)[name])
  return new Uint8Array(column.buffer)
}
