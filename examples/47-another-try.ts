// Another try with other parameters, streamed from a pool of worker processes. A run that reached its limit is submitted
// again with a higher limit and a hint; this process shows the events of the workers as they are stored.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine, workerBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"

// The workers, child processes of this one, get the folder in their environment.
process.env.KARST_EXAMPLE ??= mkdtempSync(join(tmpdir(), "karst-"))

/** The size of an archive, whose parts are found one by one. */
const sizes: Record<string, { bytes: number; next?: string }> = {
  a: { bytes: 120, next: "b" },
  b: { bytes: 300, next: "c" },
  c: { bytes: 80 },
}
const open = (part: string) => sizes[part] ?? { bytes: 0 }

// Stands in for a model: one part in each cell, or all of them once it was told how they are connected.
const model =
  process.env.MODEL ??
  scriptedModel(({ messages }) => {
    const texts = messages.map(messageText)
    const last = texts.at(-1) ?? ""
    const hint = texts.some((text) => text.includes("follow `next`"))
    const all =
      "let sum = 0\nfor (let p = 'a'; p; ) { const { bytes, next } = await open(p); sum += bytes; p = next }\nsum"
    if (texts.length === 1) return `\`\`\`ts\n${hint ? all : "await open('a')"}\n\`\`\`\n`
    if (hint) return `${/\d+/.exec(last)} bytes.`
    return `\`\`\`ts\nawait open('${/next: '(\w)'/.exec(last)?.[1]}')\n\`\`\`\n`
  })

const counter = createAgent({
  model,
  runtime: () => jsRuntime({ open: fn(open, { signature: "(part: string) => { bytes: number; next?: string }" }) }),
})
const store = sqliteStore(join(process.env.KARST_EXAMPLE, "karst.db"))
const backend = workerBackend({ module: import.meta.url, workers: 2 })
export const engine = createEngine({ agents: { counter }, store, backend })

if (import.meta.main) {
  await engine.work({ maxParallel: 1 })
  let prompt = "How many bytes has the archive, from part a on?"
  for (const cycles of [2, 4]) {
    const { id } = await engine.submit("counter", prompt, { limits: { cycles } })
    for await (const event of engine.watch(id)) {
      if (event.type === "code-end") console.log(event.ok ? event.text.replaceAll("\n", " ") : "failed")
      if (event.type === "run-end") console.log(`${event.status}: ${event.output || event.reason}`)
    }
    if ((await engine.result(id)).status === "done") break
    prompt += " In one cell: follow `next` from part to part."
  }
  await engine.close()
  await store.close()
  rmSync(process.env.KARST_EXAMPLE, { recursive: true })
}
