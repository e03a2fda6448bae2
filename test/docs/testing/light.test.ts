// The first test of docs/testing.md, run as it is shown there.
// #region intro
import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent, jsRuntime } from "karst"
import { scriptedModel } from "karst/models"
import { Light } from "./light.ts"

test("the light is dimmed", async () => {
  const light = new Light()
  const model = scriptedModel(["```ts\nlight.dim(20)\n```\n", "Done."])
  await createAgent({ model, runtime: jsRuntime({ light }) }).run("Dim it")
  assert.equal(light.brightness, 20) // test the state, not the text
  assert.equal(model.requests.length, 2) // the requests that the model received
})
// #endregion
