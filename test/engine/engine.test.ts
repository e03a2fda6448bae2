import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, jsRuntime, memoryStore, scripted } from "karst"
import { createEngine } from "../../src/engine/engine.ts"

test("a submitted run is worked on, and its result and events are read from the store", async () => {
  const store = memoryStore()
  const agent = createAgent({
    model: scripted(["```ts\nlet x = 2 + 3\nx\n```", "It is 5."]),
    runtime: () => jsRuntime(),
  })
  await using engine = createEngine({ agents: { adder: agent }, store })
  const { id } = await engine.submit("adder", "Add 2 and 3")
  const result = await engine.result(id)
  assert.equal(result.status, "done")
  assert.equal(result.output, "It is 5.")
  assert.equal(result.cycles, 2)
  const types: string[] = []
  const seqs: number[] = []
  for await (const event of engine.watch(id)) {
    types.push(event.type)
    seqs.push(event.seq)
  }
  console.log(types, seqs)
})
