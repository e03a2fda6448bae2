// The contract of an evaluation suite: what it is given, and the report that it returns. Reports are plain JSON.

/** One suite of `npm run evals`. */
export interface Suite {
  name: string
  /** One sentence: what the suite shows. It stands below the title of its chapter. */
  about: string
  /** The folders below the data folder that it reads. It is skipped by name if one of them is absent. */
  needs?: readonly string[] | undefined
  /** The modes that it has besides `oracle`. */
  modes?: readonly Exclude<Mode["type"], "oracle">[] | undefined
  /** The styles in which a real model or a person plays each task. */
  playedStyles?: readonly string[] | undefined
  run(setup: SuiteSetup): Promise<SuiteReport>
}

export interface SuiteSetup {
  /** The data folder. */
  data: string
  mode: Mode
  /** At most this many tasks. Default: all. */
  maxTasks?: number | undefined
  /** Those of the `playedStyles` that are played. Default: all. */
  styles?: readonly string[] | undefined
  /** The conversations of an interrupted run with the same model. They are not played again. */
  earlier?: readonly TaskRecord[] | undefined
  /** Stores the record of a played conversation at once, so that an interrupted run does not lose it. */
  keep?: ((record: TaskRecord) => Promise<void>) | undefined
  /** Reports that a task has ended. */
  progress(done: number, total: number, task: string): void
  signal: AbortSignal
}

/** Who answers the requests: a program that knows the expected actions, a real model, or a person. */
export type Mode = { type: "oracle" } | { type: "live"; model: string } | { type: "hand"; dir: string }

/** A stored report does not have the folder of a person. */
export type StoredMode = Exclude<Mode, { type: "hand" }> | { type: "hand" }

export interface SuiteReport {
  /** What was verified in this run. The figures are worth nothing if one of these fails. */
  checks: Check[]
  /** The chapter: tables, plots and text, in this order. */
  sections: Section[]
  /** One record for each task and style. They are stored next to the report. */
  tasks: TaskRecord[]
  /** What could not be run here, and why. */
  skipped?: Skipped[]
  /** The figures that stand beside those of the paper. */
  claims?: Partial<Record<Claim, number>>
  /** The same figures against the best tool calls of the suite: made together, or reading columns instead of tables. */
  claimsAgainstBest?: Partial<Record<Claim, number>>
}

/** How many of the things that were checked hold. */
export interface Check {
  what: string
  passed: number
  of: number
  /** The first failures, for the terminal. */
  failures?: string[]
}

export interface Skipped {
  what: string
  why: string
}

export interface Section {
  title: string
  /** Markdown, one paragraph or list after another, separated by empty lines. */
  text?: string
  table?: Table
  plot?: Plot
}

export interface Table {
  columns: Column[]
  rows: Cell[][]
}

export interface Column {
  name: string
  /** `number` with thousands separators; `change` is a ratio minus 1, shown as a signed percentage; `share` is shown as
   *  a percentage. Default `text`. */
  format?: "text" | "number" | "change" | "share"
}

/** Undefined is shown as an empty cell. Null is the same in stored JSON. */
export type Cell = string | number | undefined | null

/** Groups of bars, or lines over a numeric axis. Colours follow the order of the series. */
export type Plot =
  | { type: "bars"; title: string; unit: string; groups: string[]; series: { name: string; values: number[] }[] }
  | {
      type: "lines"
      title: string
      unit: string
      xTitle: string
      series: { name: string; points: [x: number, y: number][] }[]
    }

export interface TaskRecord {
  task: string
  style: string
  /** Whether the verified end state was reached. */
  verified: boolean
  [figure: string]: string | number | boolean | undefined
}

/** The figures of the paper that are measured again. Each is a change: -0.284 means 28.4 % less. */
export type Claim = "total" | "prompt" | "completion" | "dataTotal" | "retailSuccess"

/** A report with the facts about its run, as it is stored. */
export interface StoredReport {
  suite: string
  about: string
  mode: StoredMode
  date: string
  node: string
  cores: number
  tokenizer: string
  durationMs: number
  maxTasks?: number
  report: Omit<SuiteReport, "tasks">
}
