import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { createAgent } from "../../src/agent/create-agent.ts"
import { guardInput, guardOutput, validateOutput } from "../../src/agent/guardrails.ts"
import type { Hooks } from "../../src/index.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { tool } from "../../src/tools/tool.ts"
import { call, calls, finish, resultsIn } from "./tool-call-helpers.ts"

const run = (hooks: Hooks | readonly Hooks[], ...answers: string[]) => {
  const model = scriptedModel(answers)
  return { model, run: createAgent({ model, hooks }).run("My card is 4111-1111.") }
}

describe("a guardrail on the input", () => {
  test("lets it pass, blocks it, or rewrites it", async () => {
    const pass = run(
      guardInput(() => undefined),
      "ok",
    )
    assert.equal((await pass.run).output, "ok")
    const block = run(guardInput((text) => (text.includes("card") ? { block: "No cards, please." } : undefined)))
    const blocked = await block.run
    assert.deepEqual([blocked.status, blocked.reason, blocked.detail], ["stopped", "guardrail", "No cards, please."])
    assert.deepEqual([block.model.requests.length, blocked.messages], [0, []])
    const rewrite = run(
      guardInput((text) => ({ rewrite: text.replace(/\d/g, "x") })),
      "ok",
    )
    await rewrite.run
    assert.match(JSON.stringify(rewrite.model.requests[0]?.messages), /xxxx-xxxx/)
    assert.doesNotMatch(JSON.stringify(rewrite.model.requests[0]?.messages), /4111/)
  })

  test("keeps the images of a prompt it rewrites", async () => {
    const model = scriptedModel(["ok"])
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const
    const agent = createAgent({ model, hooks: guardInput(() => ({ rewrite: "clean" })) })
    await agent.run([{ type: "text", text: "dirty" }, image])
    const parts = model.requests[0]?.messages[0]?.parts ?? []
    assert.deepEqual(parts.slice(0, 2), [{ type: "text", text: "clean" }, image])
  })

  test("is one of several: the first that blocks has decided", async () => {
    const seen: string[] = []
    const guard = (name: string, block?: string) =>
      guardInput(() => {
        seen.push(name)
        return block === undefined ? undefined : { block }
      })
    const { detail } = await run([guard("a"), guard("b", "by b"), guard("c", "by c")]).run
    assert.deepEqual([seen, detail], [["a", "b"], "by b"])
  })

  test("holds for the runs that a run starts", async () => {
    const child = createAgent({ name: "child", model: scriptedModel(["never"]) })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("forbidden")).status })
    const model = scriptedModel([calls(call("spawn")), calls(finish())])
    const hooks = guardInput((text) => (text === "forbidden" ? { block: "no" } : undefined))
    const { messages } = await createAgent({ noTool: "continue", model, tools: [spawn], hooks }).run("go")
    assert.match(JSON.stringify(messages), /stopped/)
  })
})

describe("a guardrail on the output", () => {
  test("lets it pass, withholds it, or rewrites it", async () => {
    const guard = guardOutput((text) =>
      text.includes("secret") ? { block: "It held a secret." } : text.includes("4111") ? { rewrite: "…" } : undefined,
    )
    assert.equal((await run(guard, "Fine.").run).output, "Fine.")
    assert.equal((await run(guard, "4111").run).output, "…")
    const withheld = await run(guard, "The secret is 42.").run
    assert.deepEqual(
      [withheld.status, withheld.reason, withheld.output, withheld.detail],
      ["stopped", "guardrail", "", "It held a secret."],
    )
  })

  test("that throws lets nothing out", async () => {
    const guard = guardOutput(() => {
      throw new Error("classifier is down")
    })
    const { status, output, error } = await run(guard, "Who knows.").run.settled
    assert.deepEqual([status, output], ["failed", ""])
    assert.match(error?.message ?? "", /classifier is down/)
  })
})

describe("validation of the output", () => {
  const schema = z.object({ total: z.number() })

  test("accepts what fits, also in a fence", async () => {
    assert.equal((await run(validateOutput(schema), '{"total": 3}').run).cycles, 1)
    assert.equal((await run(validateOutput(schema), '```json\n{"total": 3}\n```').run).status, "done")
  })

  test("sends an answer back once with what is wrong with it", async () => {
    const { model, run: repaired } = run(validateOutput(schema), '{"total": "three"}', '{"total": 3}')
    const { status, output } = await repaired
    assert.deepEqual([status, output], ["done", '{"total": 3}'])
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /not accepted: total: /)
  })

  test("stops the run when the second is wrong too, with what it said", async () => {
    const { run: wrong } = run(validateOutput(schema), "three", "3, I said")
    const { status, reason, detail, output, cycles } = await wrong
    assert.deepEqual([status, reason, output, cycles], ["stopped", "guardrail", "3, I said", 2])
    assert.match(detail ?? "", /not JSON/)
  })

  test("may be a check of one's own, with as many repairs as one likes", async () => {
    const polite = validateOutput((output) => (output.endsWith("please.") ? undefined : "say please."), {
      maxRepairs: 2,
    })
    const { run: asked } = run(polite, "Now.", "Now!", "Now, please.")
    assert.deepEqual([(await asked).status, (await asked).cycles], ["done", 3])
  })

  test("counts by run, for the finish of a tool agent, and not for the runs it starts", async () => {
    const child = createAgent({ name: "child", model: scriptedModel(() => "prose") })
    const spawn = tool({ name: "spawn", description: "", run: async () => (await child.run("go")).output })
    const answers = [calls(call("spawn")), calls(finish("prose")), calls(finish('{"total": 1}'))]
    const model = scriptedModel([...answers, ...answers])
    const agent = createAgent({ noTool: "continue", model, tools: [spawn], hooks: validateOutput(schema) })
    for (const _ of [1, 2]) {
      const { status, output, messages } = await agent.run("go")
      assert.deepEqual([status, output], ["done", '{"total": 1}'])
      assert.equal(resultsIn(messages)[0]?.text, "prose")
    }
  })
})
