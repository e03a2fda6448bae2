// Sub-agents as tools: a lead agent delegates tasks that run in parallel and reads the reports. The sub-agents use its
// files, and their usage counts for its run.
import { createAgent, type Json, messageText } from "karst"
import { type ModelPart, scriptedModel } from "karst/models"
import { memoryWorkspace } from "karst/workspaces"

const workspace = memoryWorkspace({
  "sales/north.csv": "month,amount\n1,120\n2,80\n",
  "sales/south.csv": "month,amount\n1,60\n2,200\n",
})
const call = (name: string, input: Json): ModelPart[] => [{ type: "tool-call", id: name, name, input }]

// Stands in for a model: reads the file that its task names, then reports.
const analyst = createAgent({
  name: "analyst",
  description: "Reads one sales file and says which month was best",
  model:
    process.env.MODEL ??
    scriptedModel(({ messages }) => {
      const path = /sales\/\w+\.csv/.exec(messages.map(messageText).join())?.[0] ?? ""
      const result = messages.findLast(({ role }) => role === "result")
      if (!result) return call("read_file", { path })
      const rows = [...messageText(result).matchAll(/(\d+),(\d+)/g)]
      const best = rows.toSorted((a, b) => Number(b[2]) - Number(a[2]))[0]
      return `${path}: month ${best?.[1]} with ${best?.[2]}`
    }),
})

const lead = createAgent({
  name: "lead",
  agents: { analyst },
  workspace,
  limits: { tokens: 200_000, depth: 2 },
  model:
    process.env.MODEL ??
    scriptedModel([
      call("delegate", {
        tasks: [
          { agent: "analyst", prompt: "Which month was best in sales/north.csv?" },
          { agent: "analyst", prompt: "Which month was best in sales/south.csv?" },
        ],
      }),
      "North was best in month 1, south in month 2.",
    ]),
})

for await (const event of lead.run("Look at the sales of both regions.")) {
  if (event.parent && event.type === "run-start") console.log("begins:", event.agent)
  if (!event.parent && event.type === "tool-end") console.log(event.text)
  if (!event.parent && event.type === "run-end") console.log(`${event.output} (${event.usage.output} tokens written)`)
}
