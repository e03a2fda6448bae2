// Counts the kinds of values in the columns of an array of records, for its declaration. Runs no code of the records.
// The same array always has the same counts: of a large one the first rows are counted, and the declaration says so.
import { types } from "node:util"
import type { TableRows } from "./type-tree.ts"

/** What the cells of a column contain. */
export interface ColumnCounts {
  /** How many cells have a value of a kind: `string`, `null`, `NaN`, `Date`, `array`, `object` … */
  kinds: Map<string, number>
  /** The first value of a column that is an array, a function or an object. */
  firstObject: unknown
}

export interface TableCounts {
  rows: TableRows
  /** How many counted rows are records. */
  records: number
  columns: Map<string, ColumnCounts>
}

/** Counts the tables of one description. Tables that were counted before are not counted again. */
export interface TableCounter {
  count(rows: readonly unknown[], width: number): TableCounts
}

/** How many cells of one table are counted: what a slow machine counts in 20 ms. */
const maxCells = 50_000
/** How many cells of all tables of a description are counted. Later tables are judged by their first rows. */
const maxCellsOfAll = 500_000
const minRows = 20
/** How many different keys are counted. */
const maxColumns = 256

export function createTableCounter(): TableCounter {
  const known = new Map<readonly unknown[], TableCounts>()
  let cellsLeft = maxCellsOfAll
  return {
    count(rows, width) {
      const earlier = known.get(rows)
      if (earlier) return earlier
      const limit = Math.floor(Math.min(maxCells, cellsLeft) / Math.max(1, width))
      const counts = countCells(rows, Math.min(rows.length, Math.max(minRows, limit)))
      cellsLeft = Math.max(0, cellsLeft - counts.rows.counted * Math.max(1, width))
      known.set(rows, counts)
      return counts
    },
  }
}

function countCells(rows: readonly unknown[], counted: number): TableCounts {
  const columns = new Map<string, ColumnCounts>()
  let records = 0
  for (let index = 0; index < counted; index++) {
    const row: unknown = Object.getOwnPropertyDescriptor(rows, index)?.value
    if (typeof row !== "object" || row === null || types.isProxy(row) || Array.isArray(row)) continue
    records++
    for (const key of Object.keys(row)) {
      const column = columns.get(key) ?? { kinds: new Map<string, number>(), firstObject: undefined }
      if (columns.size >= maxColumns && !columns.has(key)) continue
      columns.set(key, column)
      const property = Object.getOwnPropertyDescriptor(row, key)
      const kind = property && "value" in property ? kindOf(property.value) : "getter"
      if (kind === "object" || kind === "array" || kind === "function") column.firstObject ??= property?.value
      column.kinds.set(kind, (column.kinds.get(kind) ?? 0) + 1)
    }
  }
  return { rows: { total: rows.length, counted }, records, columns }
}

function kindOf(value: unknown): string {
  if (typeof value === "number") return Number.isNaN(value) ? "NaN" : "number"
  if (typeof value !== "object") return typeof value
  if (value === null) return "null"
  if (types.isProxy(value)) return "object"
  if (Array.isArray(value)) return "array"
  return types.isDate(value) ? "Date" : "object"
}

/** Says how many cells differ from most of the column: `5 number, 12 null, 3 missing`. */
export function columnNote({ kinds }: ColumnCounts, records: number): string {
  const count = (kind: string) => kinds.get(kind) ?? 0
  const present = kinds.values().reduce((sum, each) => sum + each, 0)
  if (count("null") === records && records > 0) return "all null"
  const values = [...kinds].filter(([kind]) => !emptyKinds.includes(kind))
  // Sorting keeps the order of kinds with the same count.
  const others = values.sort(([, a], [, b]) => b - a).slice(1)
  const empty = [...emptyKinds.map((kind) => [kind, count(kind)] as const), ["missing", records - present] as const]
  return [...others, ...empty]
    .flatMap(([kind, cells]) => (cells ? [`${cells.toLocaleString("en-US")} ${kind}`] : []))
    .join(", ")
}

const emptyKinds = ["NaN", "null", "undefined"]

/** `from all 891 rows`, after the mark of an inferred type. */
export function inferredFrom({ total, counted }: TableRows): string {
  if (counted < total) return ` from the first ${shownCount(counted)} of ${shownCount(total)} rows`
  return total === 1 ? " from 1 row" : ` from all ${shownCount(total)} rows`
}

function shownCount(count: number): string {
  return count.toLocaleString("en-US")
}

/** A pattern for the notes that this module and the printer write. */
export const tableNotePattern = (() => {
  const kind = "(?:string|number|boolean|bigint|symbol|Date|array|object|function|getter|NaN|null|undefined|missing)"
  const counts = `[\\d,]+ ${kind}(?:, [\\d,]+ ${kind})*`
  const rows = "[\\d,]+ rows?(?: \\(types and counts of the first [\\d,]+\\))?"
  return `(?:all null|${counts}|${rows})`
})()
