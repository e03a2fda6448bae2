// Runs suites, stores their reports, and writes the HTML report and docs/evidence.md from what is stored.
import { writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { resolveModel } from "karst/models"
import { estimateRun, estimateText } from "../played/estimate.ts"
import { chapters } from "./chapters.ts"
import { errorText, missingData } from "./data.ts"
import { evidencePage } from "./evidence-page.ts"
import { htmlReport } from "./html-report.ts"
import { storedName, storeReport, unfinishedRun } from "./stored-reports.ts"
import type { Mode, Skipped, StoredReport, Suite } from "./suite.ts"
import { tokenizer } from "./tokens.ts"

export interface RunSetup {
  data: string
  mode: Mode
  maxTasks?: number | undefined
  /** The styles that a real model or a person plays. Default: all. */
  styles?: readonly string[] | undefined
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
  /** The suites that could not be run to their end, such as for a data file that cannot be read. */
  failed: Skipped[]
  interrupted: boolean
}

/** Runs the suites one after another. A suite whose data is absent, or that does not have the mode, is skipped. A suite
 *  that fails does not stop the others. */
export async function runSuites(suites: readonly Suite[], setup: RunSetup): Promise<RunOutcome> {
  const outcome: RunOutcome = { reports: [], skipped: [], failed: [], interrupted: false }
  for (const suite of suites) {
    if (setup.signal.aborted) break
    const skipped = await runOrSkip(suite, setup, outcome).catch((error: unknown) => {
      if (setup.signal.aborted) return setup.say(`${suite.name}: interrupted.${goOnText(setup.mode)}`)
      const why = errorText(error)
      setup.say(`${suite.name}: failed, ${why}`)
      outcome.failed.push({ what: suite.name, why })
    })
    if (typeof skipped !== "string") continue
    setup.say(`${suite.name}: skipped, ${skipped}`)
    outcome.skipped.push({ what: suite.name, why: skipped })
  }
  return { ...outcome, interrupted: setup.signal.aborted }
}

/** Adds the report of a suite to the outcome, or returns the reason why it is not run. */
async function runOrSkip(suite: Suite, setup: RunSetup, { reports }: RunOutcome): Promise<string | undefined> {
  const why = reasonToSkip(suite, setup)
  if (why !== undefined) return why
  if (setup.mode.type === "live" && !(await isConfirmed(suite, setup.mode.model, setup))) {
    return "the cost was not confirmed"
  }
  reports.push(await runSuite(suite, setup))
  return undefined
}

function goOnText({ type }: Mode): string {
  if (type === "oracle") return ""
  return " The conversations that had ended are kept: start the run again to go on."
}

function reasonToSkip({ needs = [], modes = [] }: Suite, { data, mode }: RunSetup): string | undefined {
  if (mode.type !== "oracle" && !modes.includes(mode.type)) return `it has no mode --${mode.type}`
  return missingData(data, needs)
}

/** The oracle plays the same tasks first, to estimate the cost. */
async function isConfirmed(suite: Suite, id: string, setup: RunSetup): Promise<boolean> {
  const { data, maxTasks, signal, confirm, styles = suite.playedStyles ?? [] } = setup
  const model = await resolveModel(id)
  setup.say(`${suite.name}: estimating the cost`)
  const progress = (done: number, total: number, task: string) => setup.progress(suite.name, done, total, task)
  const { tasks } = await suite.run({ data, mode: { type: "oracle" }, maxTasks, signal, progress })
  const estimate = estimateRun(tasks, styles, model.price)
  return (await confirm?.(estimateText(id, estimate))) ?? false
}

async function runSuite(suite: Suite, setup: RunSetup): Promise<StoredReport> {
  const { data, mode, maxTasks, styles, results, signal } = setup
  const started = performance.now()
  const name = storedName(suite.name, mode, maxTasks)
  const unfinished = mode.type === "oracle" ? undefined : await unfinishedRun(results, name)
  if (unfinished && unfinished.earlier.length > 0) {
    const count = `${unfinished.earlier.length} conversations that were played before`
    setup.say(`${suite.name}: goes on after ${count}. Remove ${unfinished.file} to start again.`)
  }
  const { tasks, ...report } = await suite.run({
    data,
    mode,
    maxTasks,
    styles,
    signal,
    progress: (done, total, task) => setup.progress(suite.name, done, total, task),
    earlier: unfinished?.earlier,
    keep: unfinished?.keep,
  })
  const stored: StoredReport = {
    suite: suite.name,
    about: suite.about,
    mode: mode.type === "hand" ? { type: "hand" } : mode,
    date: new Date().toISOString(),
    node: process.versions.node,
    cores: availableParallelism(),
    tokenizer,
    durationMs: Math.round(performance.now() - started),
    ...(maxTasks !== undefined && { maxTasks }),
    report,
  }
  await storeReport(results, name, stored, tasks)
  await unfinished?.remove()
  return stored
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
