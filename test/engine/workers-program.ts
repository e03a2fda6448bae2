// A worker process on a SQLite file. Arguments: the folder, the lease in milliseconds. It works until it is killed.
import { appendFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, type Message } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"
import { until } from "../waiting.ts"

const [folder = "", leaseMs = "500"] = process.argv.slice(2)

const promptOf = ([first]: readonly Message[]): string => {
  const part = first?.role === "user" ? first.parts[0] : undefined
  return part?.type === "text" ? (part.text.split("\n")[0] ?? "") : ""
}
const note = (what: string) => appendFileSync(join(folder, "notes"), `${what}\n`)

/** Does what its prompt says in one cell, and answers. */
const agent = createAgent({
  model: scriptedModel(({ messages }) => {
    if (messages.some(({ role }) => role === "result")) return `Ended ${promptOf(messages)}.`
    return `\`\`\`ts\n${promptOf(messages)}\n\`\`\``
  }),
  runtime: () =>
    jsRuntime({
      compute: fn(
        (ms: number) => {
          note(`computes ${process.pid} ${ms}`)
          const until = performance.now() + ms
          while (performance.now() < until);
        },
        { idempotent: true },
      ),
      die: fn(
        () => {
          note(`dies ${process.pid}`)
          process.kill(process.pid, "SIGKILL")
        },
        { idempotent: true },
      ),
      hold: fn(() => until(() => existsSync(join(folder, "go"))), { idempotent: true }),
      // The process stops itself, because from outside it can be stopped while it holds the lock of the SQLite file.
      standStill: fn(() => void process.kill(process.pid, "SIGSTOP"), { idempotent: true }),
      rest: fn((ms: number) => new Promise((resolve) => setTimeout(resolve, ms)), { idempotent: true }),
    }),
})
await using store = sqliteStore(join(folder, "karst.db"), { sync: false })
await using engine = createEngine({ agents: { agent }, store, leaseMs: Number(leaseMs) })
await engine.work({ maxParallel: 4 })
await engine.recover()
process.stdout.write("ready\n")
await new Promise(() => setInterval(() => undefined, 1_000))
