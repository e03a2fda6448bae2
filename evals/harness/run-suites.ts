// Runs suites, stores their reports, and writes the HTML report and docs/evidence.md from what is stored.
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { resolveModel } from "karst/models"
import { estimateRun, estimateText } from "../played/estimate.ts"
import { chapters } from "./chapters.ts"
import { missingData } from "./data.ts"
import { evidencePage } from "./evidence-page.ts"
import { htmlReport } from "./html-report.ts"
import type { Mode, Skipped, StoredReport, Suite } from "./suite.ts"
import { tokenizer } from "./tokens.ts"

export interface RunSetup {
  data: string
  mode: Mode
  maxTasks?: number | undefined
  /** The folder of the stored reports. */
  results: string
  signal: AbortSignal
  /** Called with one line for people. */
  say(line: string): void
  progress(suite: string, done: number, total: number, task: string): void
  /** Shows what a run with a real model will cost, and asks whether to start. Default: it is not started. */
  confirm?(text: string): Promise<boolean>
}

export interface RunOutcome {
  reports: StoredReport[]
  skipped: Skipped[]
}

/** Runs the suites one after another. A suite whose data is absent, or that does not have the mode, is skipped. */
export async function runSuites(suites: readonly Suite[], setup: RunSetup): Promise<RunOutcome> {
  const outcome: RunOutcome = { reports: [], skipped: [] }
  for (const suite of suites) {
    setup.signal.throwIfAborted()
    const why = reasonToSkip(suite, setup)
    if (why !== undefined) {
      setup.say(`${suite.name}: skipped, ${why}`)
      outcome.skipped.push({ what: suite.name, why })
      continue
    }
    if (setup.mode.type === "live" && !(await isConfirmed(suite, setup.mode.model, setup))) {
      outcome.skipped.push({ what: suite.name, why: "the cost was not confirmed" })
      continue
    }
    outcome.reports.push(await runSuite(suite, setup))
  }
  return outcome
}

function reasonToSkip({ needs = [], modes = [] }: Suite, { data, mode }: RunSetup): string | undefined {
  if (mode.type !== "oracle" && !modes.includes(mode.type)) return `it has no mode --${mode.type}`
  return missingData(data, needs)
}

/** The oracle plays the same tasks first, to estimate the cost. */
async function isConfirmed(suite: Suite, id: string, setup: RunSetup): Promise<boolean> {
  const { data, maxTasks, signal, confirm } = setup
  const model = await resolveModel(id)
  setup.say(`${suite.name}: estimating the cost`)
  const progress = (done: number, total: number, task: string) => setup.progress(suite.name, done, total, task)
  const { tasks } = await suite.run({ data, mode: { type: "oracle" }, maxTasks, signal, progress })
  const estimate = estimateRun(tasks, suite.playedStyles ?? 1, model.price)
  return (await confirm?.(estimateText(id, estimate))) ?? false
}

async function runSuite(suite: Suite, setup: RunSetup): Promise<StoredReport> {
  const { data, mode, maxTasks, results, signal } = setup
  const started = performance.now()
  const { tasks, ...report } = await suite.run({
    data,
    mode,
    maxTasks,
    signal,
    progress: (done, total, task) => setup.progress(suite.name, done, total, task),
  })
  const stored: StoredReport = {
    suite: suite.name,
    about: suite.about,
    mode,
    date: new Date().toISOString(),
    node: process.versions.node,
    cores: availableParallelism(),
    tokenizer,
    durationMs: Math.round(performance.now() - started),
    ...(maxTasks !== undefined && { maxTasks }),
    report,
  }
  await mkdir(results, { recursive: true })
  const name = storedName(suite.name, mode, maxTasks)
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(stored, null, 2)}\n`)
  await writeFile(join(results, `${name}.tasks.jsonl`), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""))
  return stored
}

/** A sample never replaces the report of all tasks. */
function storedName(suite: string, mode: Mode, maxTasks: number | undefined): string {
  return [suite, ...(mode.type === "oracle" ? [] : [mode.type]), ...(maxTasks === undefined ? [] : ["sample"])].join(
    ".",
  )
}

/** Reads the stored reports of these suites: those of the oracle, then those of live and hand-played models. */
export async function readReports(suites: readonly Suite[], results: string): Promise<StoredReport[]> {
  const reports: StoredReport[] = []
  for (const { name, modes = [] } of suites) {
    for (const kind of ["", ...modes.map((mode) => `.${mode}`)]) {
      const text = await readFile(join(results, `${name}${kind}.json`), "utf8").catch(() => undefined)
      if (text !== undefined) reports.push(JSON.parse(text))
    }
  }
  return reports
}

/** Writes the HTML report, and docs/evidence.md if the oracle has run all suites. Returns a line about each. */
export async function writePages(
  suites: readonly Suite[],
  reports: readonly StoredReport[],
  { root, html, page }: { root: string; html: string; page: string },
): Promise<string[]> {
  const all = chapters(reports)
  await writeFile(join(root, html), htmlReport(all))
  const missing = suites.filter(
    ({ name }) => !reports.some(({ suite, mode }) => suite === name && mode.type === "oracle"),
  )
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ")
    return [`Wrote ${html}.`, `Did not write ${page}: there are no results of ${names} yet.`]
  }
  await writeFile(join(root, page), evidencePage(all))
  return [`Wrote ${html} and ${page}.`]
}
