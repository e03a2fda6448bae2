// Reads the tables of the questions from CSV files.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseCsv } from "../../src/core/data-files/csv.ts"

export type Row = Record<string, string | number | boolean | null>

export interface DataTable {
  file: string
  text: string
  rows: Row[]
  columns: Column[]
}

export interface Column {
  name: string
  type: "number" | "text"
  hasNulls: boolean
  /** The values of a column that has few of them. */
  values: readonly (string | number)[]
}

const maxListedValues = 60

/** Throws if there is no such file, or if it is not UTF-8. */
export async function readTable(folder: string, file: string): Promise<DataTable> {
  const bytes = await readFile(join(folder, file))
  return parseTable(file, new TextDecoder("utf-8", { fatal: true }).decode(bytes))
}

/** Empty cells are null. A column of nothing but numbers, in any notation, has numbers. */
export function parseTable(file: string, csv: string): DataTable {
  // Some files end their lines with a carriage return alone.
  const text = csv.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n")
  const parsed = parseCsv(text)
  const names = Object.keys(parsed[0] ?? {})
  const numeric = new Set(names.filter((name) => parsed.every((row) => isNumberText(row[name] ?? null))))
  const rows = parsed.map((row) =>
    Object.fromEntries(names.map((name): [string, Row[string]] => [name, cell(row[name] ?? null, numeric.has(name))])),
  )
  return { file, text, rows, columns: names.map((name) => describeColumn(name, rows)) }
}

function cell(value: Row[string], isNumber: boolean): Row[string] {
  if (value === null || value === "") return null
  return isNumber ? Number(value) : value
}

function isNumberText(value: Row[string]): boolean {
  return value === null || value === "" || (typeof value !== "boolean" && Number.isFinite(Number(value)))
}

function describeColumn(name: string, rows: readonly Row[]): Column {
  const known = rows.map((row) => row[name] ?? null).filter((value) => value !== null)
  const distinct = [...new Set(known)].filter((value) => typeof value !== "boolean")
  return {
    name,
    type: known.every((value) => typeof value === "number") ? "number" : "text",
    hasNulls: known.length < rows.length,
    values: distinct.length <= maxListedValues ? distinct : [],
  }
}
