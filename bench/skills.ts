// Benchmark: the tokens of offered skills in the prompt, and the time of cells of agents that share a runtime.
import { join } from "node:path"
import { createAgent, jsRuntime, type Runtime, type SkillSource, skill } from "karst"
import { scriptedModel } from "karst/models"
import { root } from "../scripts/tools.ts"
import { estimateTokens } from "../src/core/usage.ts"
import { interleave, perUnit, ratio, stats } from "./measure.ts"
import type { Report, Row } from "./report.ts"

const cells = 40
const crowds = [1, 4, 16]

export async function skills(): Promise<Report> {
  return { rows: [...(await skillRows()), ...(await sharedRows())], budgets: [] }
}

async function skillRows(): Promise<Row[]> {
  const shipped = join(root, "skills/data-analysis")
  const bare = await promptTokens([])
  const many = [1, 10, 50].map((count) => ({ count, skills: Array.from({ length: count }, (_, at) => written(at)) }))
  const rows: Row[] = []
  for (const { count, skills } of many) {
    const each = ((await promptTokens(skills)) - bare) / count
    rows.push({
      what: `prompt tokens a skill, of ${count} with 120-character descriptions`,
      unit: "",
      ...stats([each]),
    })
  }
  rows.push({
    what: "prompt tokens of the shipped data-analysis",
    unit: "",
    ...stats([(await promptTokens([shipped])) - bare]),
  })
  rows.push({ what: "tokens of a skill's 200 lines, when it is activated", unit: "", ...stats([estimateTokens(body)]) })
  return rows
}

async function promptTokens(skills: readonly SkillSource[]): Promise<number> {
  const agent = createAgent({ model: scriptedModel([]), skills })
  return estimateTokens(await agent.describe())
}

const body = Array.from(
  { length: 200 },
  (_, line) => `${line}. Read the file, check each row, and say what is odd.`,
).join("\n")

function written(at: number): SkillSource {
  const description =
    `Handles documents of kind ${at}: reads them, checks what is odd, and writes a short report.`.padEnd(
      120,
      " Use it for these only.",
    )
  return skill({ name: `kind-${at}`, description: description.slice(0, 120), instructions: body })
}

async function sharedRows(): Promise<Row[]> {
  const contenders = Object.fromEntries(
    crowds.flatMap((crowd) => [
      [`shared ${crowd}`, () => together(crowd, true)],
      [`private ${crowd}`, () => together(crowd, false)],
    ]),
  )
  const samples = await interleave(contenders, { rounds: 30, warmups: 10 })
  const of = (name: string) => samples[name] ?? []
  return crowds.flatMap((crowd): Row[] => [
    {
      what: `a cell, agents that share a runtime: ${crowd}`,
      unit: "ms",
      ...stats(of(`shared ${crowd}`)),
      ratios: { "runtimes of their own": ratio(of(`shared ${crowd}`), of(`private ${crowd}`)) },
    },
    { what: `a cell, agents with runtimes of their own: ${crowd}`, unit: "ms", ...stats(of(`private ${crowd}`)) },
  ])
}

/** Milliseconds for each cell of all agents, which run at the same time. */
async function together(crowd: number, shared: boolean): Promise<number> {
  const one = jsRuntime({ counts: {} as Record<string, number> })
  const runtimes = Array.from({ length: crowd }, () => (shared ? one : jsRuntime({ counts: {} })))
  const each = Math.ceil(cells / crowd)
  const time = await perUnit(each * crowd, () => Promise.all(runtimes.map((runtime, at) => work(runtime, at, each))))
  await Promise.all([...new Set(runtimes)].map((runtime) => runtime.close()))
  return time
}

async function work(runtime: Runtime, who: number, count: number): Promise<void> {
  const steps = Array.from(
    { length: count },
    (_, at) => `\`\`\`ts\ncounts.agent${who} = (counts.agent${who} ?? 0) + ${at}\ncounts.agent${who}\n\`\`\`\n`,
  )
  const model = scriptedModel([...steps, "Done."], { usage: { input: 900, output: 40, complete: true } })
  const { cycles } = await createAgent({ model, runtime, limits: { cycles: count + 1 } }).run("Count")
  if (cycles !== count + 1) throw new Error(`The run took ${cycles} cycles.`)
}
