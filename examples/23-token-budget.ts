// Budgets: limits stop a run and keep its results so far; a hook asks the model to finish in time.
// The calls of one answer are reserved together: those over the limit are not made.
import { createAgent, type Hooks, tool, totalTokens } from "karst"
import { scriptedModel } from "karst/models"

const mails: string[] = []
const mail = tool({
  name: "mail",
  description: "Sends a mail.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  run: ({ to }) => `Sent to ${mails.push(String(to)) && to}.`,
})

const thrift: Hooks = {
  beforeModel({ usage }) {
    const used = totalTokens(usage) ?? 0
    if (used >= 3000) return { stop: `Used ${used} tokens.` }
    if (used >= 2000) return { note: "Your budget is nearly used up: finish with what you have." }
  },
}

const usage = { input: 900, output: 100, complete: true }
let id = 0
const to = (...names: string[]) =>
  names.map((to) => ({ type: "tool-call" as const, id: `${id++}`, name: "mail", input: { to } }))

// Of three calls there is room for two: none is made, and the model may choose. Then the note has it finish.
const obedient = scriptedModel(
  [
    to("Ada", "Grace", "Edsger"),
    to("Ada", "Grace"),
    ({ messages }) => {
      const warned = JSON.stringify(messages).includes("nearly used up")
      return warned ? "Two sent." : "Unwarned."
    },
  ],
  { usage },
)
const run = createAgent({ model: obedient, tools: [mail], hooks: thrift, limits: { calls: 2 } }).run(
  "Write to them all",
)
for await (const event of run) if (event.type === "tool-end") console.log(event.text)
console.log((await run).output, mails)

// One that does not listen is stopped.
const stubborn = createAgent({ model: scriptedModel(() => to("Ada"), { usage }), tools: [mail], hooks: thrift })
const { status, reason, detail } = await stubborn.run("Write to Ada, forever")
console.log(status, reason, detail)

const limited = await stubborn.run("Write to Ada, forever", { hooks: [], limits: { tokens: 4000 } })
console.log(limited.status, limited.reason, limited.usage)
