// test lane: live
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, variable } from "karst"
import { safeRules } from "karst/rules"

// `npm run test:live` asks for the model; a run of this file alone says what is missing.
const model = process.env.KARST_LIVE === "1" ? process.env.KARST_LIVE_MODEL : undefined
const skip = model ? false : "live models: set KARST_LIVE=1 and KARST_LIVE_MODEL"

describe("a real model", { skip }, () => {
  test("changes a live object by writing code", async () => {
    const light = { room: "living room", brightness: 100 }
    const runtime = jsRuntime({ light: variable(light, "A light; brightness in percent") }, { rules: safeRules() })
    const result = await createAgent({ model: model ?? "", runtime }).run("Dim the living room to 20 percent.")
    assert.equal(result.status, "done")
    assert.equal(light.brightness, 20)
  })

  test("finds in the second turn what it made in the first", async () => {
    const agent = createAgent({ model: model ?? "", runtime: () => jsRuntime({}, { rules: safeRules() }) })
    await using session = await agent.session()
    await session.send("In code, store the sum of the integers from 1 to 1000 in a variable named `total`.")
    const { output } = await session.send(
      "What is half of `total`? Read the variable in code; answer with the number only.",
    )
    assert.match(output.replaceAll(/[,.\s]/g, ""), /250250/)
  })
})
