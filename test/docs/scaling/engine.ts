// engine.ts: contains definitions only, because each worker imports it too
import { createEngine, workerBackend } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { agents } from "./agents.ts"

export const engine = createEngine({
  agents,
  store: sqliteStore("karst.db"),
  backend: workerBackend({ module: import.meta.url, workers: 4 }),
})
