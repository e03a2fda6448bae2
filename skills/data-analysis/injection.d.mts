// The types of injection.mjs, as the model is shown them.

export type Row = Record<string, unknown>

export interface ColumnProfile {
  column: string
  types: string[]
  missing: number
  distinct: number
  /** Of its numbers, where it has any, or else of its dates. */
  min?: number | Date
  q1?: number
  median?: number
  q3?: number
  max?: number | Date
  mean?: number
}

export interface GroupSummary {
  /** Under the name of the key: the group. */
  [key: string]: unknown
  count: number
  sum: number
  mean: number | undefined
  median: number | undefined
}

/** What is in each column: its types, missing and distinct values, and the range of its numbers or dates. */
export declare function profile(rows: Row[]): ColumnProfile[]

/** The rows whose number in a column is more than 1.5 interquartile ranges beyond the quartiles. */
export declare function outliers(rows: Row[], column: string): Row[]

/** Count, sum, mean and median of a column for each value of the key, the largest sum first. */
export declare function groupBy(rows: Row[], key: string, column: string): GroupSummary[]

/** Pearson's correlation of two columns of numbers, over the rows that have both. */
export declare function correlation(rows: Row[], x: string, y: string): number
