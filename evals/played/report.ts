// The tables of conversations that a real model or a person played. Only for a real model is there a success rate.
import { change, median, sum } from "../harness/figures.ts"
import type { Cell, Check, Column, Section, SuiteReport, TaskRecord } from "../harness/suite.ts"
import type { Measured } from "../harness/tokens.ts"
import type { PlayedMode } from "./model.ts"

export interface PlayedRecord extends TaskRecord, Measured {
  /** Whether the conversation counts for the score. */
  scored: boolean
  /** Whether an error ended it, such as one of the model's service. It says nothing about the model: not scored. */
  failed?: boolean
}

export interface PlayedTexts {
  /** How the conversations were scored. */
  score: string
  /** What a person says about how it was played. */
  note?: string | undefined
  /** Pairs of styles that are compared: a style, and the one it stands against. */
  comparisons: readonly (readonly [style: string, against: string])[]
}

/** What was played, in each style, with its n. `verified` of a record says whether the task was solved. A person plays
 *  few conversations, so each is listed. */
export function playedReport(records: readonly PlayedRecord[], mode: PlayedMode, texts: PlayedTexts): SuiteReport {
  const text = [texts.score, texts.note].filter(Boolean).join("\n\n")
  const sections = [sums(records, mode, text), ...changes(records, texts.comparisons)]
  return {
    checks: checks(records),
    sections: mode.type === "hand" ? [...sections, list(records)] : sections,
    tasks: [...records],
  }
}

/** The share of the scored conversations of a style that were solved. */
export function successRate(records: readonly PlayedRecord[], style: string): number {
  const own = records.filter((record) => record.style === style && record.scored)
  return own.filter(({ verified }) => verified).length / own.length
}

/** A model that fails a task is a result, and no failed check. */
function checks(records: readonly PlayedRecord[]): Check[] {
  const failed = records.filter((record) => record.failed)
  return [
    {
      what: "conversations that no error ended, such as one of the model's service",
      passed: records.length - failed.length,
      of: records.length,
      ...(failed.length > 0 && {
        failures: failed.slice(0, 5).map(({ task, style, problem }) => `${task}, ${style}: ${problem}`),
      }),
    },
  ]
}

const figures = ["modelCalls", "prompt", "completion", "total", "cost", "costWithCache"] as const
const figureNames = ["model calls", "prompt", "completion", "total", "cost", "cost, cached"]

function sums(records: readonly PlayedRecord[], mode: PlayedMode, text: string): Section {
  const rows = [...Map.groupBy(records, ({ style }) => style)].map(([style, own]): Cell[] => [
    style,
    own.length,
    own.filter(({ scored }) => scored).length,
    own.filter(({ scored, verified }) => scored && verified).length,
    successRate(records, style),
    ...figures.map((figure) => total(own, figure)),
    median(own.map(({ peakContext }) => peakContext)),
  ])
  return {
    title: "Played conversations",
    text,
    table: {
      columns: [
        { name: "style" },
        ...["n", "scored", "solved"].map(number),
        { name: mode.type === "live" ? "success rate" : "share solved", format: "share" },
        ...[...figureNames, "peak, median"].map(number),
      ],
      rows,
    },
  }
}

function changes(records: readonly PlayedRecord[], comparisons: PlayedTexts["comparisons"]): Section[] {
  const failed = new Set(records.filter((record) => record.failed).map(({ task }) => task))
  const whole = records.filter(({ task }) => !failed.has(task))
  const byStyle = Map.groupBy(whole, ({ style }) => style)
  const rows = comparisons.flatMap(([style, against]): Cell[][] => {
    const [own, base] = [byStyle.get(style), byStyle.get(against)]
    if (!own || !base) return []
    return [[style, against, ...figures.map((figure) => change(total(own, figure), total(base, figure)))]]
  })
  if (rows.length === 0) return []
  const columns: Column[] = [
    { name: "style" },
    { name: "against" },
    ...figureNames.map((name): Column => ({ name, format: "change" })),
  ]
  return [
    {
      title: "Compared",
      text: "The change of each sum, over the tasks that no error ended.",
      table: { columns, rows },
    },
  ]
}

function list(records: readonly PlayedRecord[]): Section {
  const rows = records.map((record): Cell[] => [
    record.task,
    record.style,
    record.scored ? (record.verified ? "yes" : "no") : "not scored",
    ...(["modelCalls", "prompt", "completion", "total"] as const).map((figure) => record[figure]),
  ])
  return {
    title: "Each conversation",
    table: {
      columns: [
        ...["task", "style", "solved"].map((name) => ({ name })),
        ...["model calls", "prompt", "completion", "total"].map(number),
      ],
      rows,
    },
  }
}

function total(records: readonly PlayedRecord[], figure: keyof Measured): number {
  return sum(records.map((record) => record[figure]))
}

function number(name: string): Column {
  return { name, format: "number" }
}
