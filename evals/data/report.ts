// The tables of the suite `data`: what each arm cost, how large its context grew, and how many answers were right.
import { change, median, sum } from "../harness/figures.ts"
import type { Cell, Check, Claim, Column, Section } from "../harness/suite.ts"
import type { Measured } from "../harness/tokens.ts"
import type { Arm } from "./arms.ts"
import type { ArmRecord } from "./play.ts"
import { sameAnswers } from "./questions.ts"

const contextSizes = [8_000, 32_000, 128_000]

/** Every conversation ended, with the same answers in each arm. */
export function agreement(records: readonly ArmRecord[], what: string): Check[] {
  const tasks = [...Map.groupBy(records, ({ task }) => task)]
  const failures = tasks.flatMap(([task, own]) => {
    const failed = own.find(({ verified }) => !verified)
    if (failed) return [`${task}, ${failed.style}: ${failed.problem}`]
    const [first, ...others] = own
    const other = others.find(({ answers }) => !sameAnswers(answers, first?.answers ?? ""))
    return other ? [`${task}: ${first?.style} answers ${first?.answers}, ${other.style} ${other.answers}`] : []
  })
  return [
    {
      what: `${what}: each conversation ended, with the same answers in every arm`,
      passed: tasks.length - failures.length,
      of: tasks.length,
      ...(failures.length > 0 && { failures: failures.slice(0, 5) }),
    },
  ]
}

export function armSections(records: readonly ArmRecord[], title: string): Section[] {
  const byArm = Map.groupBy(records, ({ style }) => style)
  return [sums(byArm, title), contexts(byArm, title), changes(byArm, title)]
}

/** The change of the total tokens of `karst-ts` against an arm. */
export function dataClaims(records: readonly ArmRecord[], base: Arm): Partial<Record<Claim, number>> {
  const byArm = Map.groupBy(records, ({ style }) => style)
  return { dataTotal: change(total(byArm, "karst-ts", "total"), total(byArm, base, "total")) }
}

type ByArm = Map<Arm, ArmRecord[]>

function sums(byArm: ByArm, title: string): Section {
  const rows = [...byArm].map(([arm, own]): Cell[] => [
    arm,
    sum(own.map(({ correct }) => correct)),
    sum(own.map(({ questions }) => questions)),
    own.length,
    ...(["modelCalls", "prompt", "completion", "total"] as const).map((figure) => total(byArm, arm, figure)),
    median(own.map(({ fixed }) => fixed)),
    total(byArm, arm, "cost"),
    total(byArm, arm, "costWithCache"),
  ])
  const names = [
    "closed answers right",
    "questions",
    "conversations",
    "model calls",
    "prompt",
    "completion",
    "total",
    "fixed part",
    "cost",
    "cost, cached",
  ]
  const arms = [...byArm.keys()]
  return {
    title,
    text:
      "Right answers are those of the derived programs, which are the same in every arm; they say how good the rules are, " +
      `and nothing about a model. ${wrongText(byArm)}`,
    table: { columns: [{ name: "arm" }, ...numbers(...names)], rows },
    plot: {
      type: "bars",
      title: `${title}: tokens`,
      unit: "tokens",
      groups: arms,
      series: (["prompt", "completion"] as const).map((name) => ({
        name,
        values: arms.map((arm) => total(byArm, arm, name)),
      })),
    },
  }
}

function wrongText(byArm: ByArm): string {
  const [records = []] = byArm.values()
  const wrong = records.filter(({ correct, questions }) => correct < questions).map(({ task }) => task)
  return wrong.length === 0 ? "" : `Not all right: ${wrong.join(", ")}.`
}

function contexts(byArm: ByArm, title: string): Section {
  const rows = [...byArm].map(([arm, own]): Cell[] => {
    const peaks = own.map(({ peakContext }) => peakContext)
    const over = contextSizes.map((size) => peaks.filter((peak) => peak > size).length)
    return [arm, own.length, median(peaks), Math.max(...peaks), ...over]
  })
  const sizes = contextSizes.map((size) => `over ${size / 1000}k`)
  return {
    title: `${title}: the largest context`,
    text: "The largest prompt with its answer, over the conversations, and how many conversations exceed a size.",
    table: { columns: [{ name: "arm" }, ...numbers("conversations", "median", "most", ...sizes)], rows },
  }
}

/** Pairs of arms that are compared: an arm, and the one it stands against. */
export const comparisons: readonly (readonly [Arm, Arm])[] = [
  ["karst-ts", "json"],
  ["karst-ts", "json-columns"],
  ["karst-ts", "codeact-ts"],
  ["karst-py", "json"],
  ["karst-py", "json-columns"],
  ["karst-py", "codeact-py"],
]

function changes(byArm: ByArm, title: string): Section {
  const figures = ["modelCalls", "prompt", "completion", "total", "cost", "costWithCache"] as const
  const names = ["model calls", "prompt", "completion", "total", "cost", "cost, cached"]
  const rows = comparisons
    .filter((arms) => arms.every((arm) => byArm.has(arm)))
    .map(([arm, base]): Cell[] => [
      arm,
      base,
      ...figures.map((figure) => change(total(byArm, arm, figure), total(byArm, base, figure))),
      median(taskChanges(byArm, arm, base)),
      Math.max(...taskChanges(byArm, arm, base)),
    ])
  return {
    title: `${title}: compared`,
    text: "The change of each sum, and the change of the total for the median and for the worst conversation.",
    table: {
      columns: [
        { name: "arm" },
        { name: "against" },
        ...[...names, "total, median", "total, worst"].map((name): Column => ({ name, format: "change" })),
      ],
      rows,
    },
  }
}

function taskChanges(byArm: ByArm, arm: Arm, base: Arm): number[] {
  const totals = new Map((byArm.get(base) ?? []).map(({ task, total }) => [task, total]))
  return (byArm.get(arm) ?? []).map(({ task, total }) => change(total, totals.get(task) ?? NaN))
}

function total(byArm: ByArm, arm: Arm, figure: keyof Measured): number {
  return sum((byArm.get(arm) ?? []).map((record) => record[figure]))
}

function numbers(...names: string[]): Column[] {
  return names.map((name) => ({ name, format: "number" }))
}
