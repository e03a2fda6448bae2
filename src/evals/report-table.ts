// Formats an eval report as a table: one line per trial of a case, one column per scorer, reasons of failures, summary.
import { totalTokens } from "../core/usage.ts"
import type { EvalReport } from "../evals.ts"

type Figures = Omit<EvalReport, "table" | "save">

export function reportTable({ cases, passed, total, score, usage, durationMs }: Figures): string {
  const scorers = [...new Set(cases.flatMap(({ verdicts }) => Object.keys(verdicts)))]
  const hasSeveralTrials = cases.some(({ trial }) => trial > 1)
  const header = ["", "case", ...scorers, "cycles", "tokens", "seconds"]
  const rows = cases.map((each) => [
    each.pass ? "✓" : "✗",
    hasSeveralTrials ? `${each.name} #${each.trial}` : each.name,
    ...scorers.map((name) => scoreText(each.verdicts[name]?.score)),
    String(each.cycles),
    tokensText(totalTokens(each.usage)),
    seconds(each.durationMs),
  ])
  const reasons = cases
    .filter(({ pass }) => !pass)
    .flatMap(({ name, trial, verdicts }) =>
      Object.entries(verdicts)
        .filter(([, verdict]) => !verdict.pass && verdict.reason)
        .map(([scorer, { reason }]) => `✗ ${hasSeveralTrials ? `${name} #${trial}` : name}, ${scorer}: ${reason}`),
    )
  const cost = usage.costUsd === undefined ? "" : `, $${usage.costUsd.toFixed(4)}`
  const summary = `${passed} of ${total} passed, mean score ${scoreText(score)}, ${tokensText(totalTokens(usage))} tokens${cost}, ${seconds(durationMs)} s`
  return [...aligned([header, ...rows]), "", ...reasons, ...(reasons.length > 0 ? [""] : []), summary].join("\n")
}

function aligned(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  return rows.map((row) =>
    row
      // Marks and names are left-aligned, numbers right-aligned.
      .map((text, column) => (column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  )
}

function scoreText(score: number | undefined): string {
  return score === undefined ? "–" : score.toFixed(2)
}

function tokensText(tokens: number | undefined): string {
  return tokens === undefined ? "–" : String(tokens)
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1)
}
