import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"

test("the agent dims the light", async () => {
  const light = { brightness: 100 }
  const model = scriptedModel(["```ts\nlight.brightness = 20\n```", "Done."])
  const result = await createAgent({ model, runtime: jsRuntime({ light }) }).run("Dim the light to 20 %")
  assert.equal(result.status, "done")
  assert.equal(light.brightness, 20)
})
