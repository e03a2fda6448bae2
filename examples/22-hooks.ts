// Hooks: your code before and after runs, answers and calls, in order. The type of each hook says what it may return.
// Guardrails and output validation are made of hooks. Sub-agents inherit them.
import { createAgent, guardInput, guardOutput, type Hooks, tool, validateOutput } from "karst"
import { scriptedModel } from "karst/models"
import * as z from "zod"

const files = new Map([["notes.txt", "hello"]])
const write = tool({
  name: "write",
  description: "Writes a file.",
  input: z.object({ path: z.string(), text: z.string() }),
  run: ({ path, text }) => `${files.set(path, text).size} files`,
})

const safe: Hooks = {
  beforeModel: ({ cycle }) => (cycle === 1 ? { note: "Secrets are in .env: leave them alone." } : undefined),
  beforeCall({ binding, args: [input] }) {
    if (binding === "write" && JSON.stringify(input).includes(".env")) return { refuse: "secrets are not for agents" }
  },
}
const timing: Hooks = {
  afterCycle: ({ cycle, next }) => console.log(`cycle ${cycle}: ${next}`),
  afterRun: ({ status, cycles }) => console.log(`${status} after ${cycles} cycles`),
}

const model =
  process.env.MODEL ??
  scriptedModel([
    [{ type: "tool-call", id: "1", name: "write", input: { path: ".env", text: "KEY=1" } }],
    "I could not.",
    '{"files": 1, "card": "4111-1111"}',
  ])

const agent = createAgent({
  model,
  tools: [write],
  hooks: [
    safe,
    timing,
    guardInput((text) => (/password/i.test(text) ? { block: "No passwords, please." } : undefined)),
    validateOutput(z.object({ files: z.number() })),
    guardOutput((text) => ({ rewrite: text.replace(/\d{4}-\d{4}/, "****") })),
  ],
})

const run = agent.run("Put the key into .env and count the files, as JSON")
for await (const event of run) if (event.type === "tool-end" && !event.ok) console.log(event.text)
console.log((await run).output, [...files.keys()])

const { status, reason, detail } = await agent.run("My password is hunter2")
console.log(status, reason, detail)
