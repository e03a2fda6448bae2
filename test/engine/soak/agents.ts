// The agents of the soak tests. Each step of a run is a line in a file of its process in KARST_TEST_FOLDER, with how
// much memory the process has; first steps wait there for the file `go`, so that all runs are under way at the same
// time.
import { appendFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { steppingAgent } from "../races/stepping-agent.ts"

const folder = process.env.KARST_TEST_FOLDER ?? ""

export const agents = {
  stepping: steppingAgent(async (run, step) => {
    appendFileSync(join(folder, `effects-${process.pid}`), `${run} ${step} ${process.memoryUsage.rss()}\n`)
    if (step === 0) await gate()
  }),
}

let opening: Promise<void> | undefined
const gate = () => (opening ??= untilOpen())

async function untilOpen(): Promise<void> {
  while (!existsSync(join(folder, "go"))) await setTimeout(20)
}
