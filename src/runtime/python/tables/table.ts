// table(): marks data that becomes a pandas DataFrame in Python, and converts between records and columns.
import type { Json } from "../../../core/json.ts"

/** Columns by name, all of the same length. */
export type Columns = Record<string, ArrayLike<unknown>>

type RowOf<C extends Columns> = { [K in keyof C]: C[K][number] }

/** Returns an array of records, made from records or columns, that becomes a pandas DataFrame in a `pythonRuntime`.
 *  Without this mark an array of records becomes a list of dicts. A retrieved DataFrame is marked too. */
export function table<R extends object>(records: readonly R[]): R[]
export function table<C extends Columns>(columns: C): RowOf<C>[]
export function table(source: readonly object[] | Columns): object[] {
  const records = Array.isArray(source) ? [...source] : recordsOf(source as Columns)
  tables.set(records, Array.isArray(source) ? undefined : (source as Columns))
  return records
}

export function isTable(value: unknown): value is object[] {
  return Array.isArray(value) && tables.has(value)
}

/** One column as it is sent to Python. */
export type WireColumn = { name: string } & ({ kind: string; i: number } | { kind: "values"; v: Json })

/** Encodes the columns of a marked table: numbers, dates, booleans and texts as bytes, others by `encodeValues`. */
export function encodeColumns(
  records: readonly object[],
  add: (buffer: Uint8Array) => number,
  encodeValues: (values: unknown[], column: string) => Json,
): WireColumn[] {
  const given = tables.get(records)
  const names = given ? Object.keys(given) : columnNames(records)
  return names.map((name) => {
    const column = given?.[name]
    if (ArrayBuffer.isView(column) && !(column instanceof DataView)) {
      const kind = numberKinds.get(column.constructor.name)
      const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
      if (kind) return { name, kind, i: add(bytes) }
    }
    const values = column ? Array.from(column) : columnValues(records, name)
    return { name, ...encodeColumn(values, add, (list) => encodeValues(list, name)) }
  })
}

export function recordsFrom(
  names: readonly string[],
  columns: readonly ArrayLike<unknown>[],
  length: number,
): object[] {
  // Adding the keys in the same order gives all records one hidden class, which makes this fast.
  const records: object[] = new Array(length)
  for (let row = 0; row < length; row++) {
    const record: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) {
      const name = names[at] ?? ""
      const value = columns[at]?.[row]
      if (name === "__proto__") Object.defineProperty(record, name, { value, enumerable: true, writable: true })
      else record[name] = value
    }
    records[row] = record
  }
  return records
}

export const numberKinds = new Map([
  ["Int8Array", "int8"],
  ["Uint8Array", "uint8"],
  ["Uint8ClampedArray", "uint8"],
  ["Int16Array", "int16"],
  ["Uint16Array", "uint16"],
  ["Int32Array", "int32"],
  ["Uint32Array", "uint32"],
  ["Float32Array", "float32"],
  ["Float64Array", "float64"],
  ["BigInt64Array", "int64"],
  ["BigUint64Array", "uint64"],
])

// Marked arrays with the columns they were made from. The mark is not on the array, which other code and other runtimes
// therefore treat as any array.
const tables = new WeakMap<object, Columns | undefined>()

function recordsOf(columns: Columns): object[] {
  const lengths = new Set(Object.values(columns).map((column) => column.length))
  if (lengths.size > 1) {
    const lengthsText = Object.entries(columns).map(([name, { length }]) => `${name} has ${length}`)
    throw new TypeError(`The columns of a table must be of one length: ${lengthsText.join(", ")}.`)
  }
  const [length = 0] = lengths
  return recordsFrom(Object.keys(columns), Object.values(columns), length)
}

function columnNames(records: readonly object[]): string[] {
  const names = new Set<string>()
  for (const record of records) {
    // `Object.keys` would create an array for each record.
    for (const name in record) if (!names.has(name) && Object.hasOwn(record, name)) names.add(name)
  }
  return [...names]
}

function columnValues(records: readonly object[], name: string): unknown[] {
  const values = new Array<unknown>(records.length)
  for (let row = 0; row < records.length; row++) values[row] = (records[row] as Record<string, unknown>)[name]
  return values
}

type ColumnBody = { kind: string; i: number } | { kind: "values"; v: Json }

function encodeColumn(
  values: unknown[],
  add: (buffer: Uint8Array) => number,
  encodeValues: (values: unknown[]) => Json,
): ColumnBody {
  const numbers = (
    kind: string,
    array: Float64Array | Uint8Array,
    toNumber: (value: unknown) => number,
  ): ColumnBody => {
    for (let row = 0; row < values.length; row++) array[row] = toNumber(values[row])
    return { kind, i: add(new Uint8Array(array.buffer)) }
  }
  switch (columnKind(values)) {
    case "int":
      return numbers("int", new Float64Array(values.length), Number)
    case "float":
      return numbers("float64", new Float64Array(values.length), (value) => Number(value ?? Number.NaN))
    case "bool":
      return numbers("bool", new Uint8Array(values.length), Number)
    case "date":
      return numbers("date", new Float64Array(values.length), (value) => Number(value ?? Number.NaN))
    case "text":
      return { kind: "text", i: add(Buffer.from(JSON.stringify(values))) }
    default:
      return { kind: "values", v: encodeValues(values) }
  }
}

/** Returns the common kind of all values of a column. Missing values are allowed among numbers, dates and text. */
function columnKind(values: readonly unknown[]): "int" | "float" | "bool" | "date" | "text" | "other" {
  let common: string | undefined
  let missing = false
  let whole = true
  for (const value of values) {
    if (value === null || value === undefined) {
      missing = true
      continue
    }
    const kind = value instanceof Date ? "date" : typeof value
    if (common !== undefined && kind !== common) return "other"
    common = kind
    if (whole && kind === "number") whole = Number.isSafeInteger(value) && !Object.is(value, -0)
  }
  if (common === "number") return whole && !missing ? "int" : "float"
  if (common === "boolean") return missing ? "other" : "bool"
  if (common === "string") return "text"
  return common === "date" ? "date" : "other"
}
