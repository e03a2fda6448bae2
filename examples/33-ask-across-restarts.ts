// A run asks its user a question and later for an approval within a cell; each time its process ends. A waiting run
// uses no worker, lock or memory: any process with the store can answer, minutes or days later.
import { spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"
import { askTool } from "karst/tools"

const [folder, said] = process.argv.slice(2)

function draft(room: string) {
  console.log("  drafts an offer")
  return `Dear Smiths, the ${room} is yours.`
}
const send = (letter: string) => `sent: ${letter}`
const signature = "(text: string) => string"

const steps: ScriptedStep[] = [
  [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which room?", options: ["library", "garden"] } }],
  "```ts\nawait send(await draft('garden'))\n```\n",
  "The offer for the garden is out.",
]
const clerk = createAgent({
  model:
    process.env.MODEL ??
    scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? ""),
  runtime: () => jsRuntime({ draft: fn(draft, { signature }), send: fn(send, { signature, approve: true }) }),
  tools: [askTool()],
})

if (folder) {
  await using store = sqliteStore(join(folder, "karst.db"))
  // A cell that asks is given up at once, for this example; by default after 30 seconds.
  await using engine = createEngine({ agents: { clerk }, store, holdMs: 0 })
  const { id } = await engine.submit("clerk", "Send the Smiths an offer.", { key: "smiths" })
  const { pending } = await engine.result(id)
  if (said && pending?.kind === "question") await engine.answer(id, said)
  if (said && pending?.kind === "approval") await engine.approve(id, pending.id, said === "yes" ? "allow" : "deny")

  const now = await engine.result(id)
  if (now.pending?.kind === "question") console.log(`  asks: ${now.pending.question}`, now.pending.options)
  else if (now.pending?.kind === "approval")
    console.log("  may it call", now.pending.call.binding, now.pending.call.args)
  else console.log(`  ${now.status}: ${now.output}`)
} else {
  const folder = await mkdtemp(join(tmpdir(), "karst-"))
  for (const said of ["", "garden", "yes"]) {
    console.log(said ? `the user says: ${said}` : "the first of three processes")
    spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder, said], { stdio: "inherit" })
  }
  await rm(folder, { recursive: true })
}
