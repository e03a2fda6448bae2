// The engine that the test and the workers of its pool import.
import { join } from "node:path"
import { createEngine, workerBackend } from "karst/engine"
import { sqliteStore } from "karst/stores"
import { agents } from "./agents.ts"

export const engine = createEngine({
  agents,
  store: sqliteStore(join(process.env.KARST_TEST_FOLDER ?? "", "karst.db"), { sync: false }),
  backend: workerBackend({ module: import.meta.url, workers: 4, onError() {} }),
})
