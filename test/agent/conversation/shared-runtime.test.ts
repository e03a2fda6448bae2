import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { messageText } from "../../../src/core/message.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { Runtime } from "../../../src/runtime/runtime.ts"
import { cell, resultShownToModel, scriptedAgent } from "../scripted-agents.ts"

test("agents on one runtime see each other's changes and names at once", async () => {
  const runtime = jsRuntime({ notes: variable<string[]>([]) })
  const reader = scriptedModel([cell("[notes[0], total]"), "Done."])
  await scriptedAgent("writer", [cell('notes.push("first")\nconst total = 42'), "Done."], { runtime }).run("go")
  await createAgent({ name: "reader", model: reader, runtime }).run("go")
  assert.match(resultShownToModel(reader), /\[ 'first', 42 \]/)
})

for (const [name, make] of [
  ["jsRuntime", jsRuntime],
  ["processRuntime", processRuntime],
] as const) {
  test(`sixteen agents on one ${name} take turns, first come first served, and lose nothing`, async () => {
    const order: string[] = []
    let inside = 0
    let cells = 0
    const allWait = Promise.withResolvers<void>()
    const enter = fn(async (who: string) => {
      assert.equal(++inside, 1)
      order.push(who)
      // The first run occupies the runtime until the cells of all others wait for it.
      if (who === "0") await allWait.promise
    })
    const leave = fn(() => void inside--)
    await using own = make({ count: 0, enter, leave })
    await own.names()
    const runtime: Runtime = {
      ...own,
      execute(code, options) {
        const execution = own.execute(code, options)
        if (++cells === 16) allWait.resolve()
        return execution
      },
    }
    const code = (who: number) =>
      `await enter("${who}")\nconst before${who} = count\nawait new Promise((done) => setTimeout(done, 1))\ncount = before${who} + 1\nawait leave()`
    const agents = Array.from({ length: 16 }, (_, who) =>
      scriptedAgent(`agent ${who}`, [cell(code(who)), cell(code(who + 16)), "Done."], { runtime }),
    )
    const results = await Promise.all(agents.map((agent) => agent.run("go")))
    assert.ok(results.every(({ status }) => status === "done"))
    assert.equal(await runtime.retrieve("count"), 32)
    assert.deepEqual(
      order.slice(0, 16),
      Array.from({ length: 16 }, (_, who) => String(who)),
    )
  })

  test(`output that is kept in one ${name} has a name of its own for each agent`, async () => {
    await using runtime = make()
    const models = Array.from({ length: 4 }, (_, who) =>
      scriptedModel([cell(`console.log("${who}".repeat(9000))`), "Done."]),
    )
    await Promise.all(models.map((model) => createAgent({ model, runtime }).run("go")))
    const names = models.map((model) => /_output_\d+/.exec(resultShownToModel(model))?.[0] ?? "")
    assert.equal(new Set(names).size, 4)
    const kept = await Promise.all(names.map((each) => runtime.retrieve(each)))
    assert.deepEqual(
      kept.map((text) => String(text).slice(0, 1)),
      ["0", "1", "2", "3"],
    )
  })
}

test("an agent that has been told of names hears of those another one was given later", async () => {
  const runtime = jsRuntime({ a: 1 })
  const model = scriptedModel(["One.", "Two."])
  await using session = await createAgent({ model, runtime }).session()
  await session.send("go")
  await runtime.inject({ b: variable("two", "Put in later") })
  await session.send("go on")
  const told = model.requests[1]?.messages.map(messageText).join("\n") ?? ""
  assert.match(told, /New in the session:.*Put in later.*declare let b: string/s)
})

test("an agent is told what cells of others have made, and not what its own have", async () => {
  const runtime = jsRuntime()
  const model = scriptedModel([cell("const mine = 1"), "One.", "Two."])
  await using session = await createAgent({ model, runtime }).session()
  await session.send("go")
  await scriptedAgent("other", [cell('const totals = [{ month: "May", sum: 3 }]'), "Done."], { runtime }).run("go")
  await session.send("go on")
  const told = messageText(model.requests[2]?.messages.at(-2) ?? assert.fail())
  assert.match(told, /declare const totals: \{ month: string; sum: number \}\[\]/)
  assert.doesNotMatch(told, /mine/)
})

test("a cell that waits for an agent on its own runtime lets that one in", async () => {
  await using runtime = processRuntime({ steps: variable<string[]>([]) })
  const helper = scriptedAgent("helper", [cell('steps.push("inner")'), "Helped."], { runtime })
  await runtime.inject({ helper })
  const code = 'steps.push("before")\nconst { output } = await helper.run("go")\nsteps.push("after")\noutput'
  const model = scriptedModel([cell(code), "Done."])
  await createAgent({ model, runtime }).run("go")
  assert.match(resultShownToModel(model), /Helped\./)
  assert.deepEqual(await runtime.retrieve("steps"), ["before", "inner", "after"])
})
