// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Runtime } from "../../src/index.ts"
import { scriptedModel } from "../../src/models.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import { pythonRuntime } from "../../src/runtime/python.ts"
import { requires } from "../system.ts"

describe("what a fork cannot copy", () => {
  const generator = "const numbers = (function* () { yield 1; yield 2 })()\nconst kept = [1]"
  const runtimes: { name: string; create: () => Runtime; code: string; skip?: string | false }[] = [
    { name: "jsRuntime", create: () => jsRuntime({}), code: generator },
    { name: "processRuntime", create: () => processRuntime({}), code: generator },
    {
      name: "pythonRuntime",
      create: () => pythonRuntime({}),
      code: "numbers = (n for n in [1, 2])\nkept = [1]",
      skip: requires("python") ?? false,
    },
  ]
  for (const { name, create, code, skip = false } of runtimes) {
    test(`is listed in the fork, with the reason: ${name}`, { skip }, async () => {
      await using runtime = create()
      assert.ok((await runtime.execute(code)).ok)
      await using fork = await runtime.fork?.()
      assert.deepEqual(
        fork?.notCopied?.map((loss) => loss.name),
        ["numbers"],
      )
      assert.deepEqual(await fork?.retrieve("kept"), [1])
      assert.equal(runtime.notCopied, undefined)
    })
  }

  test("is reported to the model by the next run of a forked session", async () => {
    const model = scriptedModel([`\`\`\`ts\n${generator}\n\`\`\``, "Made.", "I see."])
    await using session = await createAgent({ model, runtime: () => jsRuntime({}) }).session()
    await session.send("Make them")
    await using fork = await session.fork?.()
    await fork?.send("Go on")
    const [told] =
      model.requests.at(-1)?.messages.filter(({ role, parts }) => {
        return role === "user" && JSON.stringify(parts).includes("numbers: a generator")
      }) ?? []
    assert.match(JSON.stringify(told), /goes on in a new runtime\. What you made before is there, except/)
  })
})
