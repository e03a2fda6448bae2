// The tables of conversations that a real model or a person played. Only for a real model is there a success rate.
import { change, median, sum } from "../harness/figures.ts"
import type { Cell, Check, Column, Section, SuiteReport, TaskRecord } from "../harness/suite.ts"
import type { Measured } from "../harness/tokens.ts"
import type { PlayedMode } from "./model.ts"

export interface PlayedRecord extends TaskRecord, Measured {
  /** Whether the conversation counts for the score. */
  scored: boolean
}

/** What was played, in each style, with its n. `verified` of a record says whether the task was solved. */
export function playedReport(records: readonly PlayedRecord[], mode: PlayedMode, scoreText: string): SuiteReport {
  return { checks: checks(records), sections: [table(records, mode, scoreText)], tasks: [...records] }
}

/** The share of the scored conversations of a style that were solved. */
export function successRate(records: readonly PlayedRecord[], style: string): number {
  const own = records.filter((record) => record.style === style && record.scored)
  return own.filter(({ verified }) => verified).length / own.length
}

/** A model that fails a task is a result, and no failed check. */
function checks(records: readonly PlayedRecord[]): Check[] {
  const played = records.filter(({ modelCalls }) => modelCalls > 0)
  return [{ what: "conversations in which the model answered", passed: played.length, of: records.length }]
}

function table(records: readonly PlayedRecord[], mode: PlayedMode, text: string): Section {
  const byStyle = Map.groupBy(records, ({ style }) => style)
  const total = (style: string, figure: keyof Measured) => sum((byStyle.get(style) ?? []).map((each) => each[figure]))
  const [base = ""] = byStyle.keys()
  const rows = [...byStyle].map(([style, own]): Cell[] => [
    style,
    own.length,
    own.filter(({ scored }) => scored).length,
    own.filter(({ scored, verified }) => scored && verified).length,
    successRate(records, style),
    ...(["modelCalls", "prompt", "completion", "total"] as const).map((figure) => total(style, figure)),
    median(own.map(({ peakContext }) => peakContext)),
    style === base ? undefined : change(total(style, "total"), total(base, "total")),
  ])
  const number = (name: string): Column => ({ name, format: "number" })
  return {
    title: "Played conversations",
    text,
    table: {
      columns: [
        { name: "style" },
        ...["n", "scored", "solved"].map(number),
        { name: mode.type === "live" ? "success rate" : "share solved", format: "share" },
        ...["model calls", "prompt", "completion", "total", "peak, median"].map(number),
        { name: `total, against ${base}`, format: "change" },
      ],
      rows,
    },
  }
}
