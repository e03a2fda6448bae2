// server.ts: submits, never executes
import { bullmqBackend, createEngine } from "karst/engine"
import { redisStore } from "karst/stores"
import { agents } from "./agents.ts"

const url = process.env.REDIS_URL ?? "redis://localhost:6379"
const engine = createEngine({ agents, store: redisStore(url), backend: bullmqBackend({ url }) })
const { id } = await engine.submit("analyst", "Close the books of May", { key: "books-may" })
console.log((await engine.result(id)).output) // when a worker has executed it
