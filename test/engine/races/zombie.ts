// A worker whose cell is held by a call until the test writes to its stdin; in the role `heir`, a worker that takes the
// run over. Arguments: place, folder, role, the offset of its clock, the lease.
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createAgent, fn, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { openPlace } from "../crash/places.ts"
import type { Order } from "../crash/program.ts"

const [place = "sqlite", folder = "", role = "zombie", offset = "0", leaseMs = "0"] = process.argv.slice(2)
const realNow = Date.now
const setClock = (offsetMs: number) => (Date.now = () => realNow() + offsetMs)
setClock(Number(offset))
const mark = (what: string) => appendFileSync(join(folder, "effects"), `${role} ${what}\n`)
const agent = createAgent({
  model: scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? `Done by ${role}.`
      : "```ts\nconst from = Date.now()\nawait before()\nawait held()\nawait repeatable()\nawait after()\nDate.now() >= from\n```",
  ),
  runtime: () =>
    jsRuntime({
      before: fn(async () => mark("before")),
      held: fn(
        async () => {
          mark("held")
          // The zombie waits here for a line of the test, which may set its clock.
          if (role !== "zombie") return
          const said = await new Promise((resolve) => process.stdin.once("data", resolve))
          if (String(said).startsWith("clock ")) setClock(Number(String(said).split(" ")[1]))
        },
        { unknown: "retry" },
      ),
      repeatable: fn(async () => mark("repeatable"), { idempotent: true }),
      after: fn(async () => mark("after")),
    }),
})
const { store, backend } = openPlace({ place: place as Order["place"], folder })
await using inner = store
await using engine = createEngine({
  agents: { agent },
  store: inner,
  ...(backend && { backend }),
  leaseMs: Number(leaseMs),
})
if (backend) await engine.work({ maxParallel: 1 })
const { id } = await engine.submit("agent", "Go", { key: "one" })
let result: string | undefined
while (result === undefined) {
  if (role !== "zombie") await engine.recover()
  const signal = AbortSignal.timeout(role === "zombie" ? 20_000 : 100)
  result = await engine.result(id, { signal }).then(
    ({ output, messages }) => `${output} ${JSON.stringify(messages).includes("true")}`,
    () => undefined,
  )
  // How often it has looked.
  if (role !== "zombie") mark("looked")
}
process.stdout.write(result)
process.stdin.destroy()
