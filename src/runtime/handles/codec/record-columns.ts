// Encodes arrays of records with the same keys as columns, which is several times faster than JSON.
import { types } from "node:util"
import { attempt } from "../../../core/attempt.ts"
import type { Json } from "../../../core/json.ts"

/** A column as it is sent. Numbers and booleans are bytes, texts are JSON; `i` is the number of the buffer. */
export type Column = { name: string; kind: "number" | "boolean" | "text"; i: number }

type ColumnKind = Column["kind"]

/** Remembers the records of a table: a record that occurs twice must be one object on the other side too. */
export interface SeenRecords {
  has(record: object): boolean
  add(record: object, row: number): void
}

/** Returns undefined unless all elements are records with the same keys and one primitive type per key. `seen` is not
 *  used for an array that is sent alone and has a column of rising numbers: then no record can occur twice. */
export function encodeRecordColumns(
  rows: readonly unknown[],
  seen: SeenRecords,
  isAlone: boolean,
  addBuffer: (buffer: Uint8Array) => number,
): Column[] | undefined {
  if (rows.length < minRows) return undefined
  const kinds = kindsOf(rows[0])
  if (!kinds) return undefined
  const names = [...kinds.keys()]
  const columns = [...kinds].map(([name, kind]) => emptyColumn(name, kind, rows.length))
  for (let row = 0; row < rows.length; row++) if (!addRecord(rows[row], row, names, columns)) return undefined
  if (!(isAlone && columns.some(({ kind, values }) => kind === "number" && isStrictlyRising(values)))) {
    for (let row = 0; row < rows.length; row++) {
      const record = rows[row] as object
      if (seen.has(record)) return undefined
      seen.add(record, row)
    }
  }
  return columns.map(({ name, kind, values }) => ({ name, kind, i: addBuffer(bytesOf(values)) }))
}

/** Builds the records of a table from its columns, which all have `length` values. */
export function recordsFromColumns(
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

/** Decodes the values of a column. Returns undefined if the bytes are not a column of that length. */
export function decodeRecordColumn(
  kind: Json | undefined,
  bytes: Uint8Array,
  length: number,
): ArrayLike<unknown> | undefined {
  if (kind === "number") return bytes.length === 8 * length ? new Float64Array(new Uint8Array(bytes).buffer) : undefined
  if (kind === "boolean") return bytes.length === length ? booleansFrom(bytes) : undefined
  if (kind !== "text") return undefined
  const texts = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  const isColumn = Array.isArray(texts) && texts.length === length && texts.every((text) => typeof text === "string")
  return isColumn ? texts : undefined
}

function booleansFrom(bytes: Uint8Array): boolean[] {
  const values = new Array<boolean>(bytes.length)
  for (let row = 0; row < bytes.length; row++) values[row] = bytes[row] === 1
  return values
}

function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text))
}

// JSON is as fast for fewer records.
const minRows = 64

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

interface ColumnValues {
  name: string
  kind: ColumnKind
  /** The `typeof` of the values. */
  type: string
  values: Float64Array | Uint8Array | unknown[]
}

function emptyColumn(name: string, kind: ColumnKind, length: number): ColumnValues {
  if (kind === "text") return { name, kind, type: "string", values: new Array<unknown>(length) }
  return { name, kind, type: kind, values: kind === "number" ? new Float64Array(length) : new Uint8Array(length) }
}

/** Puts the values of a row into the columns. Returns false if the row has other keys, another key order, other types,
 *  accessors or hidden members. V8 caches both lists of names per hidden class; `Reflect.ownKeys` would build its list
 *  for each row and take ten times as long. */
function addRecord(row: unknown, at: number, names: readonly string[], columns: readonly ColumnValues[]): boolean {
  if (!isBareRecord(row)) return false
  const keys = Object.keys(row)
  if (keys.length !== names.length || Object.getOwnPropertyNames(row).length !== names.length) return false
  if (Object.getOwnPropertySymbols(row).length > 0) return false
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const column = columns[index] as ColumnValues
    if (keys[index] !== name) return false
    // An accessor has no value here and is not called.
    const value: unknown = Object.getOwnPropertyDescriptor(row, name)?.value
    if (typeof value !== column.type) return false
    column.values[at] = column.kind === "text" ? value : Number(value)
  }
  return true
}

function isStrictlyRising(values: ArrayLike<unknown>): boolean {
  let last = Number.NEGATIVE_INFINITY
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number
    if (!(value > last)) return false
    last = value
  }
  return true
}

function bytesOf(values: ColumnValues["values"]): Uint8Array {
  return Array.isArray(values) ? Buffer.from(JSON.stringify(values)) : new Uint8Array(values.buffer)
}
