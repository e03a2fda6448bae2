// A submitted run is stored before it starts and after every cycle, so it can be stopped at any time.
// Another engine with the same store, also in another process, continues it. The same key means the same run.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

const folder = await mkdtemp(join(tmpdir(), "karst-"))
const store = sqliteStore(join(folder, "karst.db"))

async function sales(month: string) {
  console.log(`  sales of ${month} are looked up`)
  if (month === "May") void today.drain() // Somebody presses Ctrl-C: the cycle under way is finished and saved.
  return month === "May" ? [120, 80] : [60, 200]
}

const steps = [
  "```ts\nconst may = await sales('May')\n```\n",
  "```ts\nconst june = await sales('June')\nmay.concat(june).reduce((sum, each) => sum + each)\n```\n",
  "May and June made 460 together.",
]
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "")

const signature = "(month: string) => number[]"
const clerk = createAgent({ model, runtime: () => jsRuntime({ sales: fn(sales, { signature }) }) })
const open = () => createEngine({ agents: { clerk }, store })

console.log("today")
const today = open()
const { id } = await today.submit("clerk", "What did May and June make?", { key: "may-june" })
for await (const event of today.watch(id)) if (event.type === "cycle-end") break
await today.close()
const left = await today.get(id)
console.log(`  left: ${left?.status} after cycle ${left?.cycles}\n`)

console.log("tomorrow")
const tomorrow = open()
const again = await tomorrow.submit("clerk", "What did May and June make?", { key: "may-june" })
console.log(`  the same run: ${again.id === id}`)
await tomorrow.recover()
const { output, cycles } = await tomorrow.result(id)
console.log(`  ${output} (${cycles} cycles)`)
await tomorrow.close()
await store.close()
await rm(folder, { recursive: true })
