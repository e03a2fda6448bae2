// A worker process for runs whose cells wait for an approval. Its setup is JSON in the first argument. It works until it
// is killed.
import { createEngine } from "karst/engine"
import { openPlace } from "../crash/places.ts"
import { type HeldSetup, wipingAgent } from "./held-agent.ts"

const setup: HeldSetup = JSON.parse(process.argv[2] ?? "{}")
const { store, backend } = openPlace(setup, { mayDie: true })
const engine = createEngine({
  agents: { agent: wipingAgent(setup) },
  store,
  ...(backend && { backend }),
  holdMs: setup.holdMs,
  leaseMs: 2_000,
})
await engine.work()
await engine.recover()
process.stdout.write("ready\n")
setInterval(() => undefined, 1_000)
