// Benchmark: whether a late step of a long run takes longer than an early one.
import { type AgentOptions, createAgent, jsRuntime, tool } from "karst"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { safeRules } from "karst/rules"
import * as z from "zod"
import { median, stats } from "./measure.ts"
import { type Budget, budget, type Report, type Row } from "./report.ts"

const steps = 500
const window = 11

/** How much longer a late step of one run takes than an early one: nothing may be copied that grows with the
 *  history. */
export async function growth(): Promise<Report> {
  const code = await compared("a code step", () => stepTimes(codeAnswer, { runtime: notesRuntime }))
  const tools = await compared("a tool step", () => stepTimes(toolAnswer, { tools: [noteTool([])], noTool: "answer" }))
  return { rows: [...code.rows, ...tools.rows], budgets: [code.budget, tools.budget] }
}

async function compared(what: string, run: () => Promise<number[]>): Promise<{ rows: Row[]; budget: Budget }> {
  // The first run only warms the code up; without it step 10 would be slow for another reason.
  await run()
  const runs: number[][] = []
  for (let round = 0; round < 7; round++) runs.push(await run())
  const early = runs.map((times) => around(times, 10))
  const late = runs.map((times) => around(times, steps - window))
  const ratio = stats(late.map((time, run) => time / (early[run] ?? NaN)))
  const row = (which: string, samples: number[]): Row => ({ what: `${what}: ${which}`, unit: "ms", ...stats(samples) })
  return {
    rows: [
      row("step 10", early),
      row("step 500", late),
      { what: `${what}: step 500 against step 10`, unit: "×", ...ratio },
    ],
    budget: budget(`${what}: step 500 against step 10 of one run`, 1.5, ratio.median, "×"),
  }
}

function codeAnswer(step: number): ScriptedStep {
  return `Note.\n\`\`\`ts\nnotes.push("note ${step}")\n\`\`\`\n`
}

function toolAnswer(step: number): ScriptedStep {
  return [{ type: "tool-call", id: `call-${step}`, name: "note", input: { text: `note ${step}` } }]
}

function notesRuntime() {
  return jsRuntime({ notes: [] as string[] }, { rules: safeRules() })
}

function noteTool(notes: string[]) {
  return tool({
    name: "note",
    description: "Takes a note",
    input: z.object({ text: z.string() }),
    run: async ({ text }) => notes.push(text),
  })
}

/** The duration of each cycle of a run of 500 steps. */
async function stepTimes(answer: (step: number) => ScriptedStep, options: Partial<AgentOptions>): Promise<number[]> {
  const answers = Array.from({ length: steps }, (_, step) => answer(step))
  const model = scriptedModel([...answers, "Done."], { usage: { input: 900, output: 40, complete: true } })
  const starts: number[] = []
  const result = await createAgent({
    model,
    ...options,
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
