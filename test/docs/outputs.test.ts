// The programs of docs/outputs.md, each run as it is shown there.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, variable } from "karst"
// #region suite
import { suite } from "karst/evals"
// #endregion
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { workIn } from "./surroundings.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/outputs.md", () => {
  test("returns a declared output, typed, after the model has assigned it", async () => {
    const sales = [
      { month: "May", amount: 10 },
      { month: "June", amount: 32 },
    ]
    const total = "sales.reduce((sum, { amount }) => sum + amount, 0)"
    const model = scriptedModel([
      "It is 42.",
      cell(`const report = { total: ${total}, months: sales.map(({ month }) => month) }`),
      "Done.",
    ])
    const agent = createAgent({ model, runtime: () => jsRuntime({ sales }) })
    // #region outputs
    const report = z.object({ total: z.number(), months: z.array(z.string()) })
    const result = await agent.run("Add up the sales", { outputs: { report } })
    if (result.status === "done") result.objects.report.total // number
    // #endregion
    assert.equal(result.status, "done")
    const sum: number = result.objects.report.total
    assert.deepEqual([sum, result.objects.report.months], [42, ["May", "June"]])
    assert.match(JSON.stringify(model.requests[0]?.messages), /report.*total: number/)
    assert.doesNotMatch(model.requests[0]?.system ?? "", /report/)
  })

  test("judges a run by the state it left", async () => {
    const light = { brightness: 100 }
    const model = scriptedModel([cell("light.brightness = 15"), "Dimmed."])
    const agent = createAgent({ model, runtime: jsRuntime({ light }) })
    // #region verify
    const result = await agent.run("Dim the light", {
      // Your own object, or (runtime) => runtime.retrieve(name).
      verify: () => light.brightness <= 20,
    })
    result.verdict // { pass: true, score: 1 }
    // #endregion
    assert.deepEqual(result.verdict, { pass: true, score: 1 })
    const again = agent.with({ model: scriptedModel([cell("light.brightness = 50"), "Dimmed."]) })
    const read = await again.run("Dim the light", {
      verify: async (runtime) => (await runtime.retrieve("light")).brightness <= 20,
    })
    assert.deepEqual([read.status, read.verdict], ["done", { pass: false, score: 0 }])
  })

  test("scores many cases, each several times", async (t) => {
    await workIn(t)
    const agent = createAgent({
      model: scriptedModel(({ messages }) => (messages.length === 1 ? cell("brightness = 20") : "Dimmed.")),
      runtime: () => jsRuntime({ brightness: variable(100) }),
    })
    const log = t.mock.method(console, "log", () => {})
    // #region suite
    const report = await suite(
      [{ name: "dims", prompt: "Dim the light to 20 %", expected: 20 }],
      { level: async ({ runtime, expected }) => (await runtime.retrieve("brightness")) === expected },
      { agent, maxParallel: 4, trials: 3, onProgress: ({ done, total }) => console.log(done, "of", total) },
    )
    console.log(report.table())
    await report.save("report.json")
    // #endregion
    const printed = log.mock.calls.map(({ arguments: values }) => values.join(" "))
    assert.deepEqual(printed.slice(0, 3), ["1 of 3", "2 of 3", "3 of 3"])
    assert.match(printed[3] ?? "", /dims[\s\S]*3/)
    assert.match(await readFile("report.json", "utf8"), /"dims"/)
  })
})
