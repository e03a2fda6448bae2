// The types of a benchmark report, and printing it as tables.
import { availableParallelism } from "node:os"
import type { Stats } from "./measure.ts"

/** One measured thing. `ratios` says how many times another figure its median is. */
export interface Row extends Stats {
  what: string
  unit: Unit
  ratios?: Record<string, number>
}

/** Without a unit: a share from 0 to 1, or a count. */
export type Unit = "ms" | "MB" | "×" | "tokens" | ""

/** A figure that Karst promises to stay below, and whether it does here. */
export interface Budget {
  what: string
  limit: number
  measured: number
  unit: Unit
  holds: boolean
}

export interface Report {
  rows: Row[]
  budgets: Budget[]
  /** What could not be measured here, and why. */
  absent?: Absent[]
}

export interface Absent {
  what: string
  why: string
}

export function budget(what: string, limit: number, measured: number, unit: Unit): Budget {
  return { what, limit, measured, unit, holds: measured <= limit }
}

export function asJson(reports: Record<string, Report>): string {
  const { node, platform, cpus } = machine()
  return JSON.stringify({ date: new Date().toISOString(), node, platform, cpus, benches: reports }, null, 2)
}

export function asTables(reports: Record<string, Report>): string {
  const { node, platform, cpus } = machine()
  const rows = Object.entries(reports).flatMap(([name, { rows }]) => rows.map((row) => [name, ...figures(row)]))
  const budgets = Object.values(reports).flatMap(({ budgets }) => budgets.map(verdict))
  const absent = Object.values(reports).flatMap(({ absent = [] }) => absent.map(({ what, why }) => [what, why]))
  return [
    `Node ${node}, ${platform}, ${cpus} cores`,
    table([["bench", "what", "min", "median", "max", "", "median against"], ...rows]),
    ...(budgets.length > 0 ? [table([["budget", "limit", "measured", "", ""], ...budgets])] : []),
    ...(absent.length > 0 ? [table([["not measured", "because"], ...absent])] : []),
  ].join("\n\n")
}

function machine() {
  return { node: process.versions.node, platform: `${process.platform} ${process.arch}`, cpus: availableParallelism() }
}

function figures({ what, min, median, max, unit, ratios = {} }: Row): string[] {
  const against = Object.entries(ratios).map(([other, ratio]) => `${short(ratio)}× ${other}`)
  return [what, short(min), short(median), short(max), unit, against.join(", ")]
}

function verdict({ what, limit, measured, unit, holds }: Budget): string[] {
  return [what, `≤ ${short(limit)}`, short(measured), unit, holds ? "holds" : "BROKEN"]
}

function short(figure: number): string {
  return String(Number(figure.toPrecision(3)))
}

function table(lines: string[][]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}
