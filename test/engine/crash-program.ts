// A process that works on durable runs and is killed at a chosen write. Arguments: kind, folder, mode, kill point.
// `start` submits; `recover` goes on. The kill point is `<n>` or `<n>-before`: SIGKILL after or before the nth write.
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { createEngine } from "../../src/engine/engine.ts"
import { sqliteStore } from "../../src/stores/sqlite.ts"
import type { Store } from "../../src/stores/store.ts"
import { kinds } from "./crash-kinds.ts"

const [kind = "", folder = "", mode = "start", killPoint = ""] = process.argv.slice(2)
const [killAt, before] = killPoint.split("-")
const file = join(folder, "effects.jsonl")
const effect = (name: string, detail: string) => appendFileSync(file, `${JSON.stringify({ name, detail })}\n`)

const make = kinds[kind]
if (!make) throw new Error(`There is no kind "${kind}".`)
const { agent, options = {} } = make(effect)
const store = killing(sqliteStore(join(folder, "karst.db"), { sync: false }))
await using engine = createEngine({ agents: { agent }, store, holdMs: 0, ...options })
const { id } = await engine.submit("agent", "Go.", { key: "crash" })
if (mode === "recover") await engine.recover()
let result = await engine.result(id)
while (result.status === "waiting" && result.pending) {
  if (result.pending.kind === "question") await engine.answer(id, "blue")
  else await engine.approve(id, result.pending.id, "allow")
  result = await engine.result(id)
}
const events = await Array.fromAsync(engine.watch(id))
process.stdout.write(JSON.stringify({ status: result.status, output: result.output, error: result.error, events }))

/** A store whose owner dies at the chosen write. */
function killing(inner: Store): Store {
  let writes = 0
  return {
    ...inner,
    async commit(changes, guard) {
      const isLast = ++writes === Number(killAt)
      if (isLast && before) process.kill(process.pid, "SIGKILL")
      const revision = await inner.commit(changes, guard)
      if (isLast) process.kill(process.pid, "SIGKILL")
      return revision
    },
  }
}
