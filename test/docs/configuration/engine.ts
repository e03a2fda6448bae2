import { loadAgents } from "karst/config"
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"

await using loaded = await loadAgents({ config: "karst.config.ts" })
await using engine = createEngine({ agents: loaded.agents, store: sqliteStore("runs.db") })
const { id } = await engine.submit("reader", "What did we decide?")
console.log((await engine.result(id)).output)
