// Stores the reports of runs and the records of their tasks as files, and reads them again.
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { filesLike } from "./data.ts"
import type { Mode, StoredReport, Suite, TaskRecord } from "./suite.ts"

/** The name of the files of a run. A sample never replaces the report of all tasks, nor one model that of another. */
export function storedName(suite: string, mode: Mode, maxTasks: number | undefined): string {
  const model = mode.type === "live" ? [mode.model.replace(/[^\w.-]+/g, "-")] : []
  const played = mode.type === "oracle" ? [] : [mode.type, ...model]
  return [suite, ...played, ...(maxTasks === undefined ? [] : ["sample"])].join(".")
}

export async function storeReport(
  results: string,
  name: string,
  stored: StoredReport,
  tasks: readonly TaskRecord[],
): Promise<void> {
  await mkdir(results, { recursive: true })
  await writeFile(join(results, `${name}.json`), `${JSON.stringify(stored, null, 2)}\n`)
  await writeFile(join(results, `${name}.tasks.jsonl`), tasks.map(line).join(""))
}

/** Reads the stored reports of these suites: those of the oracle, then those of live and hand-played models. A sample
 *  counts only for these, and only if there is no report of all tasks. */
export async function readReports(suites: readonly Suite[], results: string): Promise<StoredReport[]> {
  const reports: StoredReport[] = []
  for (const { name, modes = [] } of suites) {
    const played = modes.flatMap((mode) => filesLike(results, `${name}.${mode}*.json`))
    const shown = played.filter((file) => !played.includes(file.replace(".sample.json", ".json")) || !isSample(file))
    for (const file of [...filesLike(results, `${name}.json`), ...shown]) {
      reports.push(JSON.parse(await readFile(join(results, file), "utf8")))
    }
  }
  return reports
}

function isSample(file: string): boolean {
  return file.endsWith(".sample.json")
}

/** The records of a run that has not ended yet, in a file. */
export interface UnfinishedRun {
  file: string
  /** What an interrupted run of the same suite with the same model has left. */
  earlier: readonly TaskRecord[]
  keep(record: TaskRecord): Promise<void>
  /** Removes the file: the run has ended. */
  remove(): Promise<void>
}

export async function unfinishedRun(results: string, name: string): Promise<UnfinishedRun> {
  await mkdir(results, { recursive: true })
  const file = join(results, `${name}.unfinished.jsonl`)
  const text = await readFile(file, "utf8").catch(() => "")
  return {
    file,
    earlier: text
      .split("\n")
      .filter(Boolean)
      .map((record): TaskRecord => JSON.parse(record)),
    keep: (record) => appendFile(file, line(record)),
    remove: () => rm(file, { force: true }),
  }
}

function line(record: TaskRecord): string {
  return `${JSON.stringify(record)}\n`
}
