// A plan answers a question about a table: rows, a new column, and the values to compute. It is derived from the text
// of the question and written as TypeScript and as Python.
import type { Column } from "./tables.ts"

export interface Plan {
  /** A column that is computed from others. */
  derived?: { name: string; formula: Formula } | undefined
  /** What the program computes and prints, each under its name. */
  values: Computed[]
  /** The answers, in the order of the question's format. */
  answers: PlannedAnswer[]
}

export interface Computed {
  name: string
  decimals: number
  value: Value
}

export interface PlannedAnswer {
  key: string
  /** The text of the answer, from the printed values. */
  text(printed: ReadonlyMap<string, string>): string
}

export type Formula =
  | { type: "sum"; columns: readonly Column[] }
  | { type: "difference"; columns: readonly [Column, Column] }
  | { type: "ratio"; columns: readonly [Column, Column] }
  /** (first − second) / third */
  | { type: "difference ratio"; columns: readonly [Column, Column, Column] }
  | { type: "log10"; column: Column }

export type Statistic =
  | "mean"
  | "median"
  | "std"
  | "populationStd"
  | "min"
  | "max"
  | "range"
  | "skewness"
  | "populationSkewness"
  | "kurtosis"

export type Value =
  | { type: "statistic"; statistic: Statistic; column: Column; rows: Rows }
  | { type: "correlation"; columns: readonly [Column, Column]; part: "r" | "p" | "r2"; rows: Rows }
  | { type: "normal test"; column: Column; rows: Rows }
  | { type: "missing"; column: Column; as: "count" | "percentage" }
  | { type: "count"; rows: Rows }
  /** The value of a column in the row where another is highest or lowest. */
  | { type: "row value"; column: Column; by: Column; at: "highest" | "lowest"; rows: Rows }
  /** The column with the most missing values. */
  | { type: "most missing" }

/** Which rows count. */
export interface Rows {
  conditions: readonly Condition[]
  outliers?: Outliers | undefined
}

export interface Condition {
  column: Column
  is: "=" | ">=" | ">" | "<"
  value: string | number
}

export interface Outliers {
  column: Column
  method: "iqr" | "z"
  populationStd: boolean
  keep: "outliers" | "others"
}

export const allRows: Rows = { conditions: [] }

/** The names of the columns of the table that a plan reads. */
export function plannedColumns({ derived, values }: Plan, columns: readonly Column[]): string[] {
  if (values.some(({ value }) => value.type === "most missing")) return columns.map(({ name }) => name)
  const used = new Set<string>()
  JSON.stringify({ derived, values }, (key, member) => {
    const list: readonly Column[] = key === "column" || key === "by" ? [member] : key === "columns" ? member : []
    for (const { name } of list) used.add(name)
    return member
  })
  return columns.map(({ name }) => name).filter((name) => used.has(name))
}
