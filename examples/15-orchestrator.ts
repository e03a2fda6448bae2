// An agent is an object like any other: the orchestrator's cell sets values of two other agents and runs them.
// Objects pass from one runtime to the next by reference. The usage of sub-agents counts for the orchestrator, once.
import { createAgent, jsRuntime, variable } from "karst"
import { scriptedModel } from "karst/models"

interface Row {
  city: string
  celsius: number | null
}
const raw: Row[] = [
  { city: "Oslo", celsius: -4 },
  { city: "Oslo", celsius: null },
  { city: "Rome", celsius: 12 },
  { city: "Rome", celsius: 14 },
]
const usage = { input: 900, output: 60, complete: true }
const model = (...answers: string[]) => process.env.MODEL ?? scriptedModel(answers, { usage })

const cleaner = createAgent({
  name: "cleaner",
  description: "Drops rows without a measurement",
  model: model("```ts\ncleaned = data.filter((row) => row.celsius !== null)\n```\n", "One row had no measurement."),
  runtime: jsRuntime({ data: variable<Row[]>([], "Rows to clean"), cleaned: variable<Row[]>([], "The result") }),
})
const insights = jsRuntime({ data: variable<Row[]>([]), means: variable<Record<string, number>>({}, "°C by city") })
const analyst = createAgent({
  name: "analyst",
  description: "Computes means by city",
  model: model(
    "```ts\nfor (const [city, rows] of Object.entries(Object.groupBy(data, (row) => row.city))) means[city] = rows.reduce((sum, row) => sum + row.celsius, 0) / rows.length\n```\n",
    "Rome is the warmest.",
  ),
  runtime: insights,
})

const plan = `await cleaner.runtime.update({ data: raw })
const cleaning = await cleaner.run("Clean the data")
if (cleaning.status !== "done") throw new Error(cleaning.error)
await analyst.runtime.update({ data: await cleaner.runtime.retrieve("cleaned") })
const { output } = await analyst.run("Mean temperature by city?")
output`
const boss = createAgent({
  name: "boss",
  model: model(`\`\`\`ts\n${plan}\n\`\`\`\n`, "Rome is the warmest, with a mean of 13 °C."),
  runtime: jsRuntime({ raw, cleaner, analyst }),
})

const run = boss.run("Clean the raw data, then find the warmest city.")
for await (const event of run) {
  if (event.type === "run-start") console.log(event.parent ? "  ↳" : "●", event.agent)
  if (event.type === "run-end") console.log(event.parent ? "  ↲" : "●", event.output)
}
console.log("means:", await insights.retrieve("means"))
console.log("tokens of all three:", (await run).usage)
