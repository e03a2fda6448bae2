// The job handler of the backend suite.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { Backend, Job, JobHandler } from "../../engine/backends/backend.ts"

/** What the handler logged about a job. */
export interface JobLogLine extends Job {
  what: "begun" | "done"
  /** The process that handled the job. */
  pid: number
}

/** Logs in a folder what happens to each job, in whatever process. The name of the run says what to do. A backend that
 *  runs its own worker processes uses it there. */
export function backendJobHandler(backend: Backend, folder: string): JobHandler {
  const write = (what: JobLogLine["what"], job: Job) => {
    const line: JobLogLine = { what, pid: process.pid, run: job.run, revision: job.revision }
    appendFileSync(join(folder, "lines"), `${JSON.stringify(line)}\n`)
  }
  return async (job) => {
    write("begun", job)
    const [kind] = job.run.split(" ")
    if (kind === "hold") while (!existsSync(join(folder, "go"))) await setTimeout(5)
    if (kind === "push") await backend.push({ run: `pushed by ${job.run}`, revision: job.revision + 1 })
    if (kind === "throw" && countStarts(folder, job) < 3) throw new Error("Not by me.")
    write("done", job)
  }
}

export function readJobLog(folder: string): JobLogLine[] {
  const file = join(folder, "lines")
  if (!existsSync(file)) return []
  const whole = readFileSync(file, "utf8").split("\n").slice(0, -1)
  return whole.map((line) => JSON.parse(line))
}

function countStarts(folder: string, { run }: Job): number {
  return readJobLog(folder).filter((line) => line.what === "begun" && line.run === run).length
}
