// A process is killed by kill -9 in the middle of a cell that pays three bills. A new process runs the cell again: paid
// bills are answered from the journal, and the interrupted payment is repeated with its idempotency key.
import { spawnSync } from "node:child_process"
import { appendFileSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, currentCall, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

const [folder = await mkdtemp(join(tmpdir(), "karst-")), victim] = process.argv.slice(2)
const ledger = join(folder, "ledger.txt")

// A bank: whoever comes twice with one key is served once.
function pay(to: string, euros: number) {
  const key = currentCall()?.idempotencyKey ?? ""
  const isNew = !readFileSync(ledger, "utf8").includes(key)
  if (isNew) appendFileSync(ledger, `${to} ${euros} € ${key}\n`)
  console.log(`  ${process.pid} asks for ${euros} € to ${to}${isNew ? "" : ": known already"}`)
  if (victim && to === "Grace") process.kill(process.pid, "SIGKILL") // paid, but not yet recorded
  return `${to} has ${euros} €`
}

const steps = [
  "```ts\nawait pay('Ada', 40)\nawait pay('Grace', 90)\nawait pay('Edsger', 10)\n```\n",
  "All three are paid.",
]
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "")
const signature = "(to: string, euros: number) => string"
const clerk = createAgent({
  model,
  runtime: () => jsRuntime({ pay: fn(pay, { signature, idempotent: true }) }),
})

const store = sqliteStore(join(folder, "karst.db"))
const engine = createEngine({ agents: { clerk }, store })
const submit = () => engine.submit("clerk", "Pay Ada 40, Grace 90 and Edsger 10", { key: "bills" })

if (victim) await submit()
else {
  appendFileSync(ledger, "")
  const { signal } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, folder, "victim"], {
    stdio: "inherit",
  })
  console.log(`  the first process ended by ${signal}\n`)

  const { id } = await submit()
  await engine.recover()
  console.log(`  ${(await engine.result(id)).output}\n`)
  console.log(readFileSync(ledger, "utf8").replaceAll(/ \S+$/gm, ""))
  await engine.close()
  await store.close()
  await rm(folder, { recursive: true })
}
