// Many machines: a program submits runs, and workers take them from a queue in Redis. This example starts two workers;
// in production, run `karst worker --agents ./agents.ts --store redis://… --backend bullmq` on each machine.
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { bullmqBackend, createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { redisStore } from "karst/stores"

// Stands in for a model: one cell, then what it gave.
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => {
    const result = messages.find(({ role }) => role === "result")
    return result ? `${/baked.*\d/.exec(messageText(result))}` : "```ts\nawait bake()\n```\n"
  })
const bake = () => new Promise((baked) => setTimeout(baked, 50, `baked in process ${process.pid}`))
const baker = createAgent({ model, runtime: () => jsRuntime({ bake: fn(bake) }) })
const [, , address] = process.argv
await using redis = address ? undefined : await startRedis()
const url = address ?? redis?.url ?? ""
await using store = redisStore(url)
await using engine = createEngine({ agents: { baker }, store, backend: bullmqBackend({ url }) })
if (address) {
  await engine.work({ maxParallel: 1 })
  process.send?.("ready")
  await once(process, "disconnect")
} else {
  const workers = [1, 2].map(() => fork(import.meta.filename, [url]))
  await Promise.all(workers.map((worker) => once(worker, "message")))
  const loaves = await Promise.all([1, 2, 3, 4].map((loaf) => engine.submit("baker", `Bake loaf ${loaf}`)))
  for (const { id } of loaves) console.log((await engine.result(id)).output)
  console.log(`process ${process.pid} baked none`)
  for (const worker of workers) worker.disconnect()
  await Promise.all(workers.map((worker) => once(worker, "exit")))
}

async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), "karst-"))
  const url = join(folder, "redis.sock")
  const server = spawn("redis-server", ["--port", "0", "--unixsocket", url, "--dir", folder, "--appendonly", "yes"])
  server.on("error", () => {
    rmSync(folder, { recursive: true })
    console.log("This example needs redis-server: apt-get install redis-server, or brew install redis.")
    process.exit(1)
  })
  for await (const line of server.stdout) if (String(line).includes("eady to accept connections")) break
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill()
      await once(server, "exit")
      rmSync(folder, { recursive: true })
    },
  }
}
