// Live objects survive their process: objects of cells are stored, the runtime's factory binds your objects again, and
// the model sees the names of those that are lost. The first process here ends by kill -9.
import { spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

const [folder = await mkdtemp(join(tmpdir(), "karst-")), victim] = process.argv.slice(2)

class Thermometer {
  #degrees = new Map([["Oslo", -4]])
  read = (city: string) => this.#degrees.get(city) ?? 13
}
const crash = () => (victim ? process.kill(process.pid, "SIGKILL") : "still here")

const steps = [
  `\`\`\`ts
class Day {
  constructor(city, degrees) { Object.assign(this, { city, degrees }) }
  isCold() { return this.degrees < 0 }
}
const days = new Map(["Oslo", "Rome"].map((city) => [city, new Day(city, thermometer.read(city))]))
const cold = () => [...days.values()].filter((day) => day.isCold())
const ticking = setInterval(() => {}, 1000)
\`\`\`
`,
  "```ts\nawait crash()\n```\n",
  "```ts\n[cold(), days.get('Rome') instanceof Day, thermometer.read('Rome'), typeof ticking]\n```\n",
  "Only Oslo was cold.",
]
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "")
const agent = createAgent({
  model,
  runtime: () => jsRuntime({ thermometer: new Thermometer(), crash: fn(crash, { unknown: "retry" }) }),
})

if (!victim) {
  const self = [...process.execArgv, import.meta.filename, folder, "victim"]
  console.log("the first process ended by", spawnSync(process.execPath, self).signal)
}
const store = sqliteStore(join(folder, "karst.db"))
const engine = createEngine({ agents: { agent }, store })
const { id } = await engine.submit("agent", "Where was it cold?", { key: "cold" })
await engine.recover()
for await (const event of engine.watch(id)) {
  if (event.type === "prompt-steered") console.log(messageText(event.message))
  if (event.type === "code-end") console.log(event.text)
  if (event.type === "run-end") console.log(event.output)
}
await engine.close()
await store.close()
await rm(folder, { recursive: true })
