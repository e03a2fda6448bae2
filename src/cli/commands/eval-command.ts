// `karst eval <file>`: runs the suite of cases that a module exports, and prints the scores.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { Agent } from "../../core/agent.ts"
import { isRecord } from "../../core/object.ts"
import { safeLine } from "../../display/safe-text.ts"
import { type EvalCase, type EvalRecord, type Scorer, suite } from "../../evals.ts"
import type { Input } from "../command.ts"
import { endSignal } from "../end-signal.ts"
import { importNamedModule } from "../load/import-named-module.ts"
import { printJson } from "../print-table.ts"
import { printLine } from "../print-text.ts"
import { withModel } from "../run/user-agent.ts"
import type { evalOptions } from "../table/checks.ts"
import { UsageError } from "../usage-error.ts"

export async function evalCommand({ values, positionals: [path = ""] }: Input<typeof evalOptions>): Promise<number> {
  const { cases, scorers, agent } = await loadSuite(path)
  const chosen = chooseCases(cases, values.only)
  const { model, trials, "max-parallel": maxParallel } = values
  const signal = endSignal()
  const report = await suite(
    chosen.map((each) => (each.agent ? { ...each, agent: withModel(each.agent, model) } : each)),
    scorers,
    {
      agent: agent && withModel(agent, model),
      trials,
      maxParallel,
      signal,
      onProgress: ({ done, total, record }) => printProgress(done, total, record),
    },
  )
  if (values.out !== undefined) await report.save(values.out)
  const { table, save: _, ...data } = report
  if (values.json) printJson(data)
  else printLine(table())
  if (signal.aborted) return 130
  return report.passed === report.total ? 0 : 1
}

interface Suite {
  cases: readonly EvalCase[]
  scorers: Record<string, Scorer>
  agent: Agent | undefined
}

async function loadSuite(path: string): Promise<Suite> {
  const file = resolve(path)
  if (!existsSync(file)) throw new UsageError(`There is no file ${path}.`)
  const exported = await importNamedModule(file, path)
  const { cases, scorers, agent } = isRecord(exported.default) ? { ...exported, ...exported.default } : exported
  if (!Array.isArray(cases) || !isRecord(scorers))
    throw new UsageError(`${path} exports no cases and scorers. Write there: export const cases = […], scorers = { … }`)
  // suite() checks the cases, the scorers and the agent.
  return { cases, scorers: scorers as Suite["scorers"], agent: agent as Suite["agent"] }
}

function chooseCases(cases: readonly EvalCase[], names: readonly string[]): readonly EvalCase[] {
  const missing = names.find((name) => !cases.some((each) => each.name === name))
  if (missing !== undefined)
    throw new UsageError(
      `--only: there is no case "${missing}". There is: ${cases.map(({ name }) => name).join(", ")}.`,
    )
  return names.length === 0 ? cases : cases.filter(({ name }) => names.includes(name))
}

function printProgress(done: number, total: number, { name, pass, verdicts }: EvalRecord): void {
  const failed = Object.entries(verdicts).find(([, verdict]) => !verdict.pass)
  const why = failed ? `: ${failed[0]}${failed[1].reason ? ` (${failed[1].reason})` : ""}` : ""
  process.stderr.write(safeLine(`${done}/${total} ${pass ? "passed" : "failed"} ${name}${why}`).concat("\n"))
}
