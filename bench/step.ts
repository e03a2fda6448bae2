// Benchmark: the time of one step of a run with a scripted model.
import { createAgent, jsRuntime, type Runtime, tool } from "karst"
import { scriptedModel } from "karst/models"
import { safeRules } from "karst/rules"
import * as z from "zod"
import { caveAgent } from "./anchors.ts"
import { interleave, perUnit, ratio, repeat, stats } from "./measure.ts"
import { importPeerFile } from "./peers.ts"
import { budget, type Report } from "./report.ts"
import { langchain, mastra, openaiAgents } from "./step-peers.ts"

const steps = 50
const usage = { input: 900, output: 40, complete: true }

/** The time of one step in a run of 50 with a scripted model: the model's answer, the action, its result remembered. */
export async function step(): Promise<Report> {
  const samples = await interleave(
    {
      code: () => perUnit(steps, () => karstRun(jsRuntime({ notes: [] as string[] }, { rules: safeRules() }))),
      bare: () => perUnit(steps, () => karstRun(idleRuntime())),
      tools: karstTools,
      ai: await aiRun(),
      plain: () => perUnit(steps, plainLoop),
    },
    { rounds: 60, warmups: 30 },
  )
  // Afterwards, because what they load makes everything in the process slower.
  const others = await interleave(
    { openai: await openaiAgents(steps), langchain: await langchain(steps), mastra: await mastra(steps) },
    { rounds: 20, warmups: 10 },
  )
  const code = stats(samples.code)
  const toCave = code.median / caveAgent.stepMs.from
  const bareToAi = ratio(samples.bare, samples.ai)
  const toolsToAi = ratio(samples.tools, samples.ai)
  const aborts = stats(await repeat(20, abortLatency))
  return {
    rows: [
      {
        what: "Karst, a code step",
        unit: "ms",
        ...code,
        ratios: { "CaveAgent's 0.43 ms": toCave, ai: ratio(samples.code, samples.ai) },
      },
      {
        what: "Karst, a bare step (nothing to compile or run)",
        unit: "ms",
        ...stats(samples.bare),
        ratios: { ai: bareToAi, "plain loop": ratio(samples.bare, samples.plain) },
      },
      {
        what: "Karst, a tool step",
        unit: "ms",
        ...stats(samples.tools),
        ratios: { ai: toolsToAi, "plain loop": ratio(samples.tools, samples.plain) },
      },
      { what: "ai 7.0.169 generateText, a tool step", unit: "ms", ...stats(samples.ai) },
      { what: "@openai/agents 0.20.0 run, a tool step", unit: "ms", ...stats(others.openai) },
      { what: "langchain 1.5.14 createAgent, a tool step", unit: "ms", ...stats(others.langchain) },
      { what: "@mastra/core 1.71.0 generate, a tool step", unit: "ms", ...stats(others.mastra) },
      { what: "plain loop, a tool step", unit: "ms", ...stats(samples.plain) },
      {
        what: "Karst, from an abort to the end of the run, while a tool runs that does not listen",
        unit: "ms",
        ...aborts,
      },
    ],
    budgets: [
      budget("code step against CaveAgent's in-process step", 1 / 3, toCave, "×"),
      budget("bare step against ai generateText", 1 / 5, bareToAi, "×"),
      budget("tool step against ai generateText", 1 / 5, toolsToAi, "×"),
      budget("abort of a run in the middle of a tool", 100, aborts.median, "ms"),
    ],
  }
}

async function karstRun(runtime: Runtime): Promise<void> {
  const cells = Array.from({ length: steps }, (_, step) => `Note ${step}.\n\`\`\`ts\n${noteCell(step)}\n\`\`\`\n`)
  const model = scriptedModel([...cells, "Done."], { usage })
  const { cycles } = await createAgent({ model, runtime, limits: { cycles: steps + 1 } }).run("Take the notes")
  if (cycles !== steps + 1) throw new Error(`The run took ${cycles} cycles.`)
  await runtime.close()
}

/** The same work as the tool step of `ai` below, of which also only the run is measured. */
function karstTools(): Promise<number> {
  const notes: string[] = []
  const answers = Array.from({ length: steps }, (_, step) => [
    { type: "tool-call" as const, id: `call-${step}`, name: "note", input: { text: `note of step ${step}` } },
  ])
  const note = tool({
    name: "note",
    description: "Takes a note",
    input: z.object({ text: z.string() }),
    run: async ({ text }) => notes.push(text),
  })
  const model = scriptedModel([...answers, "Done."], { usage })
  const agent = createAgent({ model, tools: [note], noTool: "answer", limits: { cycles: steps + 1 } })
  return perUnit(steps, async () => {
    const { cycles } = await agent.run("Take the notes")
    if (cycles !== steps + 1 || notes.length !== steps) throw new Error(`The run took ${cycles} cycles.`)
  })
}

/** From `abort()` to a settled run. */
async function abortLatency(): Promise<number> {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const hang = tool({
    name: "hang",
    description: "Hangs",
    run() {
      resolve()
      return new Promise(() => undefined)
    },
  })
  const model = scriptedModel([[{ type: "tool-call", id: "1", name: "hang", input: {} }]])
  const run = createAgent({ model, tools: [hang] }).run("Hang")
  await begun
  return perUnit(1, async () => {
    run.abort()
    await run.settled
  })
}

// Each cell is a new text, as a model's are.
function noteCell(step: number): string {
  return `const note${step}: string = \`note \${notes.length} of step ${step}\`\nnotes.push(note${step})\nnotes.length`
}

/** What is left of a step when its cell costs nothing. */
function idleRuntime(): Runtime {
  const nothing = async () => {}
  return {
    language: "typescript",
    isolation: "none",
    inject: nothing,
    update: nothing,
    retrieve: nothing,
    async execute() {
      const changes = { created: [], reassigned: [], removed: [] }
      return { ok: true, stdout: "", stderr: "", output: "", durationMs: 0, changes, value: 1, preview: "1" }
    },
    describe: async () => "declare const notes: string[]",
    names: async () => [],
    keep: async (prefix) => prefix,
    reset: nothing,
    close: nothing,
    [Symbol.asyncDispose]: nothing,
  }
}

// The part of the `ai` package that is used here; its own types are not installed with Karst.
interface Ai {
  generateText(options: object): Promise<{ steps: unknown[] }>
  tool(options: object): object
  isStepCount(count: number): unknown
}

interface AiTest {
  MockLanguageModelV4: new (options: object) => object
}

async function aiRun(): Promise<() => Promise<number>> {
  const { generateText, tool, isStepCount } = (await importPeerFile("ai", "dist/index.js")) as unknown as Ai
  const { MockLanguageModelV4 } = (await importPeerFile("ai", "dist/test/index.js")) as unknown as AiTest
  const { z } = (await importPeerFile("zod", "index.js")) as unknown as typeof import("zod")
  const tokens = { inputTokens: { total: usage.input }, outputTokens: { total: usage.output } }

  return () => {
    const notes: string[] = []
    let step = 0
    const model = new MockLanguageModelV4({
      async doGenerate() {
        if (step === steps) {
          return {
            content: [{ type: "text", text: "Done." }],
            finishReason: { unified: "stop" },
            usage: tokens,
            warnings: [],
          }
        }
        const input = JSON.stringify({ text: `note of step ${step}` })
        const call = { type: "tool-call", toolCallId: `call-${step++}`, toolName: "note", input }
        return { content: [call], finishReason: { unified: "tool-calls" }, usage: tokens, warnings: [] }
      },
    })
    const note = tool({
      description: "Takes a note",
      inputSchema: z.object({ text: z.string() }),
      execute: async ({ text }: { text: string }) => notes.push(text),
    })
    return perUnit(steps, async () => {
      const result = await generateText({
        model,
        tools: { note },
        prompt: "Take the notes",
        stopWhen: isStepCount(steps + 1),
      })
      if (result.steps.length !== steps + 1) throw new Error(`ai took ${result.steps.length} steps.`)
    })
  }
}

async function plainLoop(): Promise<void> {
  const notes: string[] = []
  const messages: object[] = [{ role: "user", text: "Take the notes" }]
  const model = async (step: number) => (step < steps ? { call: { text: `note of step ${step}` } } : { text: "Done." })
  const tool = async ({ text }: { text: string }) => notes.push(text)
  for (let step = 0; ; step++) {
    const answer = await model(step)
    messages.push({ role: "assistant", ...answer })
    if (!answer.call) return
    messages.push({ role: "tool", text: String(await tool(answer.call)) })
  }
}
