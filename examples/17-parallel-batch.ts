// A batch of sub-agents from one cell: a limited number at a time, replies in order; a failure is one of the replies.
// The worker has a runtime factory, so each run gets its own runtime with the given values.
import { createAgent, jsRuntime, messageText, variable } from "karst"
import { scriptedModel } from "karst/models"

const reviews = [
  ["Great coffee!", "Slow service."],
  ["Lovely place.", "Loved it.", "Too loud."],
  ["Never again."],
  ["Good value.", "Friendly staff."],
]

// Stands in for a model: counts what is nice, and cannot read one of the batches.
const judge = scriptedModel(({ messages }) => {
  if (messages.some((message) => messageText(message).includes("batch 2"))) throw new Error("the service is overloaded")
  if (messages.at(-1)?.role === "result") return "Counted."
  return "```ts\nconst score = texts.filter((text) => /great|lov|good|friendly/i.test(text)).length / texts.length\n```\n"
})
const worker = createAgent({
  name: "worker",
  model: process.env.MODEL ?? judge,
  runtime: () => jsRuntime({ texts: variable<string[]>([], "Reviews to judge") }),
})

const plan = `const tasks = reviews.map((texts, index) => ({
  prompt: "Put the share of good reviews among texts into score (batch " + index + ")",
  values: { texts },
  outputs: { score: { type: "number" } },
}))
const replies = await worker.runAll(tasks, { maxParallel: 2 })
replies.map((reply) => reply.objects?.score ?? reply.error)`
const boss = createAgent({
  name: "boss",
  model: process.env.MODEL ?? scriptedModel([`\`\`\`ts\n${plan}\n\`\`\`\n`, "Three of four batches could be judged."]),
  runtime: jsRuntime({ reviews, worker }),
  limits: { tokens: 200_000, depth: 2 },
})

const run = boss.run("How good are the reviews, batch by batch?")
let running = 0
let most = 0
for await (const event of run) {
  if (event.parent && event.type === "run-start") most = Math.max(most, ++running)
  if (event.parent && event.type === "run-end") running--
  if (!event.parent && event.type === "code-end") console.log(event.text)
}
console.log((await run).output)
console.log("at once, at most:", most)
