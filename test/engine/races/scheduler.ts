// One of several processes that take the runs of one SQLite file from each other, until all have ended. Arguments: the
// folder. Each step that a run takes is a line in the file `effects`.
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate, setTimeout } from "node:timers/promises"
import { createEngine } from "karst/engine"
import { type Store, sqliteStore } from "karst/stores"
import { steppingAgent } from "./stepping-agent.ts"

const [folder = ""] = process.argv.slice(2)
await using store = sqliteStore(join(folder, "karst.db"), { sync: false })
const agent = steppingAgent(async (run, step) => {
  appendFileSync(join(folder, "effects"), `${run} ${step}\n`)
  await setImmediate()
})
await using engine = createEngine({ agents: { agent }, store: readingSlowly(store), sliceMs: 0 })
await engine.work({ maxParallel: 4 })
for (;;) {
  await engine.recover()
  const left = await Array.fromAsync(engine.list({ status: ["queued", "running"] }))
  if (left.length === 0) break
  await setImmediate()
}

/** Delays reads, so that their results are often outdated by other processes. */
function readingSlowly(inner: Store): Store {
  return {
    ...inner,
    async get(key) {
      const entry = await inner.get(key)
      await setTimeout(Math.random() * 5)
      return entry
    },
  }
}
