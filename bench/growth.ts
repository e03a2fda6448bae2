import { createAgent, jsRuntime, safeRules, scripted } from "karst"
import { median, stats } from "./measure.ts"
import { budget, type Report, type Row } from "./report.ts"

const steps = 500
const window = 11

/** How much longer a late step of one run takes than an early one: nothing may be copied that grows with the history. */
export async function growth(): Promise<Report> {
  // The first run only warms the code up; without it step 10 would be slow for another reason.
  await stepTimes()
  const runs: number[][] = []
  for (let round = 0; round < 7; round++) runs.push(await stepTimes())
  const early = runs.map((times) => around(times, 10))
  const late = runs.map((times) => around(times, steps - window))
  const ratio = stats(late.map((time, run) => time / (early[run] ?? NaN)))
  const row = (what: string, samples: number[]): Row => ({ what, unit: "ms", ...stats(samples) })
  return {
    rows: [row("step 10", early), row("step 500", late), { what: "step 500 against step 10", unit: "×", ...ratio }],
    budgets: [budget("step 500 against step 10 of one run", 1.5, ratio.median, "×")],
  }
}

/** When each cycle of a run of 500 steps took how long. */
async function stepTimes(): Promise<number[]> {
  const cells = Array.from({ length: steps }, (_, step) => `Note.\n\`\`\`ts\nnotes.push("note ${step}")\n\`\`\`\n`)
  const model = scripted([...cells, "Done."], { usage: { input: 900, output: 40, complete: true } })
  const starts: number[] = []
  const result = await createAgent({
    model,
    runtime: () => jsRuntime({ notes: [] as string[] }, { rules: safeRules() }),
    limits: { cycles: steps + 1 },
    onEvent(event) {
      if (event.type === "cycle-start") starts.push(performance.now())
    },
  }).run("Take the notes")
  if (result.cycles !== steps + 1) throw new Error(`The run took ${result.cycles} cycles.`)
  return starts.slice(1).map((time, index) => time - (starts[index] ?? NaN))
}

// The median of the steps around one: a single step is at the mercy of the garbage collector.
function around(times: number[], step: number): number {
  const from = step - Math.ceil(window / 2)
  return median(times.slice(from, from + window))
}
