// A team of different agents: Claude Code leads, Codex reviews as one of its tools, a Karst agent counts. Their runs
// are children of the lead's run: one stream of events, usage added once. Needs both CLIs.
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { claude, codex } from "karst/providers"

const reviewer = codex({
  name: "reviewer",
  description: "Reviews a piece of code and says what is wrong with it",
  allow: ["read"],
  limits: { timeMs: 120_000 },
})
const counter = createAgent({
  name: "counter",
  description: "Counts anything, by running code",
  runtime: () => jsRuntime(),
  model: process.env.MODEL ?? scriptedModel(["```ts\n'for (;;) work()'.length\n```", "It has 16 characters."]),
})
const lead = claude({
  name: "lead",
  allow: [],
  tools: [reviewer, counter],
  instructions: "Ask your colleagues, then answer in one sentence.",
  limits: { depth: 2 },
})

const run = lead.run("Have it reviewed, and its characters counted: for (;;) work()")
for await (const event of run) {
  const who = event.parent ? "  " : ""
  if (event.type === "run-start") console.log(`${who}${event.agent} begins`)
  if (event.type === "run-end") console.log(`${who}${event.status}: ${event.error?.message ?? event.output}`)
}
const { usage } = await run.settled
console.log(`${usage.input} tokens read and ${usage.output} written by all of them`)
