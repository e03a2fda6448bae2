// Goes on with the run in a store, and writes how long it took until its model was asked. Argument: the file.
import { createAgent, jsRuntime } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

const [path = ""] = process.argv.slice(2)
let start = 0
const model = scriptedModel(() => {
  process.stdout.write(String(performance.now() - start))
  process.exit(0)
})
const agent = createAgent({ model, runtime: () => jsRuntime({}), limits: { cycles: 1_000 } })
const engine = createEngine({ agents: { agent }, store: sqliteStore(path, { sync: false }) })
start = performance.now()
await engine.recover()
