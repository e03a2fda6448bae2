// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { assertReplays } from "../../src/testing/replay.ts"
import { requires } from "../system.ts"

const kinds: { name: string; runtime(): Runtime; fenced: string; skip?: string | undefined }[] = [
  {
    name: "processRuntime",
    runtime: () => processRuntime(),
    fenced: "```ts\nconsole.log(Date.now(), Math.random(), crypto.randomUUID())\n```",
  },
  {
    name: "pythonRuntime",
    runtime: () => pythonRuntime(),
    fenced: "```python\nimport time, random, uuid\nprint(time.time(), random.random(), uuid.uuid4())\n```",
    skip: requires("python"),
  },
]

for (const { name, runtime, fenced, skip } of kinds) {
  test(`a recording of cells in a ${name} replays with the times and the randomness they saw`, { skip }, async () => {
    const store = memoryStore()
    const session = await createAgent({ model: scriptedModel([fenced, "Seen."]), runtime }).session({ archive: store })
    await session.send("Look")
    await session.close()
    const offline = createAgent({ model: scriptedModel(() => assert.fail("a model was asked")), runtime })
    await assertReplays(offline, { archive: store, id: session.id })
  })
}
