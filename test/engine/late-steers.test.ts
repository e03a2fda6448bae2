import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createEngine } from "../../src/engine.ts"
import { createAgent } from "../../src/index.ts"
import { type Model, scriptedModel } from "../../src/models.ts"
import { sqliteStore } from "../../src/stores.ts"

test("a steer of another process that is stored before the model's last answer ends is heard", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "karst-steers-"))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, "karst.db")
  const scripted = scriptedModel(["One.", "Two.", "Three."])
  let steers = ["In French.", "Shorter."]
  const model: Model = {
    ...scripted,
    async *stream(request) {
      const [text, ...rest] = steers
      steers = rest
      if (text !== undefined) await other.steer(id, text)
      yield* scripted.stream(request)
    },
  }
  await using other = createEngine({ agents: {}, store: sqliteStore(path) })
  await using engine = createEngine({ agents: { agent: createAgent({ model }) }, store: sqliteStore(path) })
  const { id } = await engine.submit("agent", "Count")
  assert.equal((await engine.result(id)).output, "Three.")
  const [, second, third] = scripted.requests.map(({ messages }) => JSON.stringify(messages))
  assert.match(second ?? "", /In French\./)
  assert.match(third ?? "", /Shorter\./)
  await assert.rejects(other.steer(id, "Too late."), { code: "ended" })
})
