// The tables and plots that compare styles, from the records of all tasks.
import { change, median, sum, worstTenth } from "../harness/figures.ts"
import type { Cell, Check, Claim, Column, Section, TaskRecord } from "../harness/suite.ts"
import { cellText } from "../harness/tables.ts"
import type { Measured } from "../harness/tokens.ts"
import type { ReplayTask, Style } from "./task.ts"

export interface StyleRecord extends TaskRecord, Measured {
  style: Style
  /** The number of expected calls. */
  calls: number
  rereads: number
}

/** Tasks with a number of expected calls between two bounds. */
export interface LengthClass {
  name: string
  from: number
  to: number
}

type Figure = keyof Measured

/** Records in the order of the tasks, by style. */
type ByStyle = Map<Style, StyleRecord[]>

const bases: readonly Style[] = ["json-seq", "json-par"]

export function styleSections(records: readonly StyleRecord[], lengths: readonly LengthClass[]): Section[] {
  const byStyle: ByStyle = Map.groupBy(records, ({ style }) => style)
  return [sums(byStyle), changes(byStyle), single(byStyle), byLength(byStyle, lengths)]
}

/** The end states that were verified in each style. */
export function styleChecks(records: readonly StyleRecord[]): Check[] {
  return [...Map.groupBy(records, ({ style }) => style)].map(([style, own]) => {
    const failed = own.filter(({ verified }) => !verified)
    return {
      what: `${style}: each expected call made once with the expected result, and the expected end state`,
      passed: own.length - failed.length,
      of: own.length,
      ...(failed.length > 0 && { failures: failed.slice(0, 5).map(({ task, problem }) => `task ${task}: ${problem}`) }),
    }
  })
}

/** The figures that stand beside those of the paper: `code-proj` against tool calls. */
export function styleClaims(records: readonly StyleRecord[], base: Style): Partial<Record<Claim, number>> {
  const byStyle: ByStyle = Map.groupBy(records, ({ style }) => style)
  const changed = (figure: Figure) => change(total(byStyle, "code-proj", figure), total(byStyle, base, figure))
  return { total: changed("total"), prompt: changed("prompt"), completion: changed("completion") }
}

/** What the tasks are like. */
export function tasksSection(tasks: readonly ReplayTask[]): Section {
  const calls = tasks.flatMap(({ turns }) => turns.flatMap((turn) => turn.calls))
  const perTask = tasks.map(({ turns }) => sum(turns.map((turn) => turn.calls.length)))
  const results = calls.map(({ result }) => result.length)
  const names = ["tasks", "turns", "calls", "of them writing", "of them failing", "calls of a task, median", "most"]
  return {
    title: "The tasks",
    table: {
      columns: numbers(...names, "characters of a result, median", "longest"),
      rows: [
        [
          tasks.length,
          sum(tasks.map(({ turns }) => turns.length)),
          calls.length,
          calls.filter(({ writes }) => writes).length,
          calls.filter(({ fails }) => fails).length,
          median(perTask),
          Math.max(...perTask),
          median(results),
          Math.max(...results),
        ],
      ],
    },
  }
}

function sums(byStyle: ByStyle): Section {
  const columns: Column[] = [
    { name: "style" },
    ...numbers(
      "verified",
      "tasks",
      "model calls",
      "prompt",
      "completion",
      "total",
      "fixed part",
      "peak, median",
      "peak, most",
    ),
    ...numbers("cost", "cost, cached", "read again"),
  ]
  const rows = [...byStyle].map(([style, records]): Cell[] => {
    const peaks = records.map(({ peakContext }) => peakContext)
    return [
      style,
      records.filter(({ verified }) => verified).length,
      records.length,
      ...(["modelCalls", "prompt", "completion", "total"] as const).map((figure) => total(byStyle, style, figure)),
      median(records.map(({ fixed }) => fixed)),
      median(peaks),
      Math.max(...peaks),
      total(byStyle, style, "cost"),
      total(byStyle, style, "costWithCache"),
      sum(records.map(({ rereads }) => rereads)),
    ]
  })
  const styles = [...byStyle.keys()]
  const values = (figure: Figure) => styles.map((style) => total(byStyle, style, figure))
  return {
    title: "All tasks together",
    text:
      "Tokens of all requests and answers. `fixed part` is the system prompt with the declarations of functions or tools, " +
      "which each request repeats (the median over the tasks). `peak` is the largest prompt with its answer, over the tasks. `read again` " +
      "counts the cells that only printed a result again, because a call or an answer needed something that was not shown.",
    table: { columns, rows },
    plot: {
      type: "bars",
      title: "Tokens and cost of all tasks",
      unit: "tokens; cost in input tokens",
      groups: styles,
      series: [
        { name: "prompt", values: values("prompt") },
        { name: "completion", values: values("completion") },
        { name: "cost without cache", values: values("cost") },
        { name: "cost with cache", values: values("costWithCache") },
      ],
    },
  }
}

function changes(byStyle: ByStyle): Section {
  const figures: Figure[] = ["modelCalls", "prompt", "completion", "total", "cost", "costWithCache"]
  const names = ["model calls", "prompt", "completion", "total", "cost", "cost, cached"]
  const rows = comparisons(byStyle).map(([style, base]): Cell[] => [
    style,
    base,
    ...figures.map((figure) => change(total(byStyle, style, figure), total(byStyle, base, figure))),
  ])
  return {
    title: "Compared with tool calls",
    text: `The change of each sum. ${bases.map((base) => comparisonText(byStyle, base)).join(" ")}`,
    table: { columns: [{ name: "style" }, { name: "against" }, ...changesOf(...names)], rows },
  }
}

function comparisonText(byStyle: ByStyle, base: Style): string {
  const text = (figure: Figure) =>
    cellText(change(total(byStyle, "code-proj", figure), total(byStyle, base, figure)), { name: "", format: "change" })
  return (
    `Against \`${base}\`, \`code-proj\` changes the total tokens by ${text("total")}, the cost without a cache by ` +
    `${text("cost")}, and the cost with a cache by ${text("costWithCache")}.`
  )
}

function single(byStyle: ByStyle): Section {
  const rows = [...byStyle].flatMap(([style, records]): Cell[][] => {
    const totals = records.map((record) => record.total)
    return bases.map((base): Cell[] => {
      const own = taskChanges(byStyle, style, base)
      const isBase = style === base
      return [
        style,
        base,
        median(totals),
        worstTenth(totals),
        isBase ? undefined : median(own),
        isBase ? undefined : worstTenth(own),
        isBase ? undefined : own.filter((each) => each < 0).length / own.length,
      ]
    })
  })
  return {
    title: "Task by task",
    text:
      "Total tokens of the median task and of the worst tenth of the tasks (their mean), and the change for each task: " +
      "in the worst tenth, the tasks where the style compares worst.",
    table: {
      columns: [
        { name: "style" },
        { name: "against" },
        ...numbers("total, median", "total, worst tenth"),
        ...changesOf("change, median", "change, worst tenth"),
        { name: "tasks with fewer tokens", format: "share" },
      ],
      rows: rows.filter(([style, base]) => style !== base),
    },
  }
}

function byLength(byStyle: ByStyle, lengths: readonly LengthClass[]): Section {
  const styles = [...byStyle.keys()]
  const compared = comparisons(byStyle).filter(([style]) => style === "code-proj")
  const within = ({ from, to }: LengthClass): ByStyle =>
    new Map(
      [...byStyle].map(([style, records]) => [style, records.filter(({ calls }) => calls >= from && calls <= to)]),
    )
  const used = lengths.filter((length) => [...within(length).values()].some((records) => records.length > 0))
  const mean = (group: ByStyle, style: Style) => total(group, style, "total") / (group.get(style)?.length ?? 1)
  const rows = used.map((length): Cell[] => {
    const group = within(length)
    return [
      length.name,
      group.get("json-seq")?.length,
      ...styles.map((style) => mean(group, style)),
      ...compared.map(([style, base]) => change(mean(group, style), mean(group, base))),
      ...compared.map(([style, base]) =>
        change(total(group, style, "costWithCache"), total(group, base, "costWithCache")),
      ),
    ]
  })
  return {
    title: "By the length of the task",
    text: "Mean total tokens of a task, by the number of its expected calls, and the change of the cost with a cache.",
    table: {
      columns: [
        { name: "calls" },
        ...numbers("tasks", ...styles),
        ...changesOf(...compared.map(([style, base]) => `${style} / ${base}`)),
        ...changesOf(...compared.map(([style, base]) => `cost, cached: ${style} / ${base}`)),
      ],
      rows,
    },
    plot: {
      type: "bars",
      title: "Mean total tokens of a task, by its expected calls",
      unit: "tokens",
      groups: used.map(({ name }) => name),
      series: styles.map((name) => ({ name, values: used.map((length) => mean(within(length), name)) })),
    },
  }
}

/** Each style against those tool calls that come before it. */
function comparisons(byStyle: ByStyle): [Style, Style][] {
  return [...byStyle.keys()].flatMap((style) =>
    bases.filter((base) => base !== style && !(style === "json-seq")).map((base): [Style, Style] => [style, base]),
  )
}

function taskChanges(byStyle: ByStyle, style: Style, base: Style): number[] {
  const totals = new Map((byStyle.get(base) ?? []).map(({ task, total }) => [task, total]))
  return (byStyle.get(style) ?? []).map(({ task, total }) => change(total, totals.get(task) ?? NaN))
}

function total(byStyle: ByStyle, style: Style, figure: Figure): number {
  return sum((byStyle.get(style) ?? []).map((record) => record[figure]))
}

function numbers(...names: string[]): Column[] {
  return names.map((name) => ({ name, format: "number" }))
}

function changesOf(...names: string[]): Column[] {
  return names.map((name) => ({ name, format: "change" }))
}
