// Declared outputs and a verifier: a run ends only when the declared variables are assigned and valid; the result has
// them, typed. Then your own check examines the final state. An eval suite runs many such checks.
import { createAgent, jsRuntime } from "karst"
import { suite } from "karst/evals"
import { scriptedModel } from "karst/models"
import * as z from "zod"

const sales = [
  { month: "May", amount: 120 },
  { month: "June", amount: 310 },
  { month: "June", amount: 40 },
]
const report = z.object({ total: z.number(), best: z.object({ month: z.string(), amount: z.number() }) })

const answers = () => [
  "The best month was June.",
  "```ts\nconst report = { total: sales.reduce((sum, { amount }) => sum + amount, 0), best: 'June' }\n```\n",
  "June, as I said.",
  "```ts\nconst june = sales.filter(({ month }) => month === 'June')\nreport.best = { month: 'June', amount: june.reduce((sum, { amount }) => sum + amount, 0) }\n```\n",
  "June was best, with 350.",
]
const agent = createAgent({ model: process.env.MODEL ?? scriptedModel(answers()), runtime: () => jsRuntime({ sales }) })

await using run = agent.run("Which month was best?", {
  outputs: { report },
  verify: (_runtime, { objects }) => objects.report?.best.amount === 350,
})
for await (const event of run) {
  if (event.type === "prompt-steered" && event.message.parts[0]?.type === "text") {
    console.log(event.message.parts[0].text, "\n")
  }
}
const result = await run
if (result.status === "done") console.log("best:", result.objects.report.best.month, result.objects.report.best.amount)
console.log(result.verdict)

// The same as an evaluation: many cases, judged by state.
const obedient = createAgent({
  model: scriptedModel(({ messages }) => (messages.length === 1 ? "```ts\nsales.pop()\n```\n" : "Gone.")),
  runtime: () => jsRuntime({ sales: sales.slice() }),
})
const figures = await suite(
  [
    { name: "removes one", prompt: "Remove the last sale", expected: 2 },
    { name: "removes all", prompt: "Remove every sale", expected: 0 },
  ],
  { left: async ({ runtime, expected }) => ((await runtime.retrieve("sales")) as unknown[]).length === expected },
  { agent: obedient },
)
console.log(figures.table())
