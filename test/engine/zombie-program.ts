// A worker that is stopped in the middle of a cell (SIGSTOP by its test) and wakes up after its lease has run out.
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createAgent, createEngine, fn, jsRuntime, scripted, sqliteStore } from "karst"

const [folder = "", role = "zombie"] = process.argv.slice(2)
const mark = (what: string) => appendFileSync(join(folder, "effects"), `${role} ${what}\n`)
const agent = createAgent({
  model: scripted(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? `Done by ${role}.`
      : "```ts\nawait first()\nawait second()\n```",
  ),
  runtime: () =>
    jsRuntime({
      first: fn(
        async () => {
          mark("first")
          // The other one is stopped here, and goes on here much later.
          if (role === "zombie") await new Promise((resolve) => process.stdin.once("data", resolve))
        },
        { unknown: "retry" },
      ),
      second: fn(async () => mark("second")),
    }),
})
const store = sqliteStore(join(folder, "karst.db"), { sync: false })
await using engine = createEngine({ agents: { agent }, store, leaseMs: 300 })
const { id } = await engine.submit("agent", "Go", { key: "one" })
let result: string | undefined
while (result === undefined) {
  if (role !== "zombie") await engine.recover()
  const signal = AbortSignal.timeout(role === "zombie" ? 20_000 : 200)
  result = await engine.result(id, { signal }).then(
    ({ output }) => output,
    () => undefined,
  )
}
process.stdout.write(result)
process.stdin.destroy()
