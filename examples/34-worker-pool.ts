// Runs that use much processor time, in a pool of worker processes. A worker that dies is replaced, and its runs
// continue in another one. Each worker imports this module and works for the engine that it exports.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine, workerBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

// The workers, child processes of this one, get the folder in their environment.
process.env.KARST_EXAMPLE ??= mkdtempSync(join(tmpdir(), "karst-"))

function countPrimes(from: number, to: number) {
  let count = 0
  for (let n = from; n < to; n++) {
    let divisor = 2
    while (divisor * divisor <= n && n % divisor) divisor++
    if (divisor * divisor > n) count++
  }
  return { count, process: process.pid }
}

// Stands in for a model: one cell, then what it gave.
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => {
    const [, from, to] = /from (\d+) to (\d+)/.exec(messages.map(messageText).join("\n")) ?? []
    const result = messages.find(({ role }) => role === "result")
    return result
      ? `${from}: ${/{.*}/.exec(messageText(result))}`
      : `\`\`\`ts\nawait countPrimes(${from}, ${to})\n\`\`\`\n`
  })

const counter = createAgent({
  model,
  runtime: () => jsRuntime({ countPrimes: fn(countPrimes, { signature: "(from: number, to: number) => object" }) }),
})
const store = sqliteStore(join(process.env.KARST_EXAMPLE, "karst.db"))
export const engine = createEngine({
  agents: { counter },
  store,
  backend: workerBackend({ module: import.meta.url, workers: 2 }),
})

if (import.meta.main) {
  await engine.work({ maxParallel: 1 })
  const submit = (from: number) => engine.submit("counter", `Count the primes from ${from} to ${from + 100_000}`)
  const ids = await Promise.all([1, 2, 3, 4].map((million) => submit(million * 1_000_000)))
  const results = await Promise.all(ids.map(({ id }) => engine.result(id)))
  for (const { output } of results) console.log(output)
  const processes = new Set(results.map(({ output }) => /process: (\d+)/.exec(output)?.[1]))
  console.log(
    `${results.length} runs in ${processes.size} processes, none of them this one: ${!processes.has(String(process.pid))}`,
  )
  await engine.close()
  await store.close()
  rmSync(process.env.KARST_EXAMPLE, { recursive: true })
}
