// The first program of docs/scaling.md. Each worker of the pool imports it.
// #region backends
import { bullmqBackend, createEngine, workerBackend } from "karst/engine"
import { redisStore, sqliteStore } from "karst/stores"
// #endregion
import { agents } from "./agents.ts"

const url = process.env.REDIS_URL ?? ""

// #region backends
export const alone = createEngine({ agents, store: sqliteStore("karst.db") }) // this process
export const engine = createEngine({
  agents,
  store: sqliteStore("karst.db"),
  backend: workerBackend({ module: import.meta.url, workers: 4 }), // a pool of processes
})
export const shared = createEngine({ agents, store: redisStore(url), backend: bullmqBackend({ url }) }) // many machines
// #endregion
