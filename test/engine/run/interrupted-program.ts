// A process that works on one durable run and may kill itself. Arguments: folder, scenario. Prints what the run came
// to.
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

const [folder = "", scenario = ""] = process.argv.slice(2)
const effects = join(folder, "effects.txt")
const count = (name: string) =>
  existsSync(effects)
    ? readFileSync(effects, "utf8")
        .split("\n")
        .filter((line) => line === name).length
    : 0
const effect = (name: string) => appendFileSync(effects, `${name}\n`)

/** Kills this process in the middle of the call, the first time it is made. */
async function killedOnce(name: string): Promise<string> {
  effect(name)
  if (count(name) === 1) process.kill(process.pid, "SIGKILL")
  return name
}

const cells: Record<string, string[]> = {
  call: ["const rate = await lookUp(7)\nawait pay(100)", "await lookUp(8)"],
  twice: ["await lookUp(7)\nawait pay(100).catch(() => 0)\nawait refund(100)", "await lookUp(8)"],
  retried: ["await deliver('box')"],
  answer: ["await lookUp(7)"],
  approval: ["await pay(100).catch(() => 0)\nawait sign()", "await lookUp(8)"],
}

const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length
const model = scriptedModel(async (request) => {
  if (scenario === "answer" && turn(request) === 1) await killedOnce("model asked")
  const code = cells[scenario]?.[turn(request)]
  return code === undefined ? "Done." : `\`\`\`ts\n${code}\n\`\`\``
})
const agent = createAgent({
  model,
  runtime: () =>
    jsRuntime({
      lookUp: fn(async (id: number) => effect(`lookUp ${id}`)),
      pay: fn(async (_amount: number) => killedOnce("pay")),
      refund: fn(async (_amount: number) => killedOnce("refund")),
      sign: fn(async () => effect("sign"), { approve: true }),
      deliver: fn(async (_what: string) => killedOnce("deliver"), { unknown: "retry" }),
    }),
})
await using engine = createEngine({ agents: { agent }, store: sqliteStore(join(folder, "karst.db")), holdMs: 0 })
const { id } = await engine.submit("agent", "Pay the bill.", { key: "bill" })
await engine.recover()
let result = await engine.result(id)
for (; result.pending; result = await engine.result(id)) await engine.approve(id, result.pending.id, "allow")
const { status, messages } = result
const said = messages.map((message) => ({ role: message.role, text: messageText(message) }))
console.log(JSON.stringify({ status, said, requests: model.requests.length }))
