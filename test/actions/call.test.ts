import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { tool } from "../../src/tools/tool.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

function guarded() {
  const wiped: string[] = []
  const wipe = fn((what: string) => wiped.push(what), { description: "Delete", approve: true })
  return { wiped, runtime: jsRuntime({ wipe }) }
}

describe("calls from a cell", () => {
  test("show functions by name: not their text, and nothing of theirs runs", async () => {
    const runtime = jsRuntime({ each: (..._visits: unknown[]) => 0 })
    const odd = "Object.assign(function odd() {}, { toString() { throw new Error('ran') } })"
    const model = scriptedModel([
      cell(`await each(function visit() {}, ${odd}, (() => () => 1)(), new Proxy(() => 1, {}))`),
      "ok",
    ])
    const { trajectory } = await createAgent({ model, runtime }).run("go")
    const start = trajectory.events.find((event) => event.type === "call-start")
    assert.equal(start?.call.args, "[function visit], [function odd], [function], [function]")
  })

  test("are told as events, with their cell, arguments and outcome", async () => {
    const runtime = jsRuntime({
      add: (a: number, b: number) => a + b,
      fail: () => {
        throw new RangeError("out of range")
      },
    })
    const model = scriptedModel([cell("await add(1, 2)\nawait fail().catch(() => 0)"), "ok"])
    const { trajectory } = await createAgent({ model, runtime }).run("go")
    const starts = trajectory.events.filter((event) => event.type === "call-start")
    const ends = trajectory.events.filter((event) => event.type === "call-end")
    const code = trajectory.events.find((event) => event.type === "code-end")
    assert.deepEqual(starts[0]?.call, { binding: "add", args: "1, 2" })
    assert.equal(starts[0]?.within, code?.id)
    assert.deepEqual(
      ends.map((end) => end.ok),
      [true, false],
    )
    assert.equal(ends[1]?.error, "RangeError: out of range")
    assert.equal(code?.calls, 2)
  })

  test("are counted but no longer told one by one beyond a thousand in one cell", async () => {
    const runtime = jsRuntime({ tick: () => undefined })
    const model = scriptedModel([cell("for (let i = 0; i < 1500; i++) await tick()"), "ok"])
    const { trajectory } = await createAgent({ model, runtime }).run("go")
    assert.equal(trajectory.events.filter((event) => event.type === "call-start").length, 1000)
    assert.equal(trajectory.events.find((event) => event.type === "code-end")?.calls, 1500)
    assert.ok(trajectory.events.some((event) => event.type === "warning-raised" && event.code === "many-calls"))
  })
})

describe("approval", () => {
  test("takes no time of the call, the cell or the tool that waits for it", async () => {
    let clock = 0
    const wipe = () => {
      clock += 5
      return "wiped"
    }
    const options = {
      now: () => clock,
      approver: () => {
        clock += 60_000
        return true
      },
    }
    const inCell = createAgent({
      ...options,
      model: scriptedModel([cell("await wipe()"), "ok"]),
      runtime: jsRuntime({ wipe: fn(wipe, { approve: true }) }),
    })
    const asTool = createAgent({
      ...options,
      model: scriptedModel([[{ type: "tool-call", id: "t1", name: "wipe", input: {} }], "ok"]),
      tools: [tool({ name: "wipe", description: "Deletes", approve: true, run: wipe })],
    })
    const events = await Promise.all([inCell, asTool].map(async (agent) => (await agent.run("go")).trajectory.events))
    const ends = events.flat().flatMap((event) => ("durationMs" in event ? [[event.type, event.durationMs]] : []))
    assert.deepEqual(ends, [
      ["call-end", 5],
      ["code-end", 5],
      ["tool-end", 5],
    ])
  })

  test("is asked of the agent's answerer, with the call", async () => {
    const { wiped, runtime } = guarded()
    const asked: unknown[] = []
    const agent = createAgent({
      model: scriptedModel([cell('await wipe("disk")'), "ok"]),
      runtime,
      approver: (call) => {
        asked.push([call.binding, ...call.args])
        return true
      },
    })
    await agent.run("go")
    assert.deepEqual(asked, [["wipe", "disk"]])
    assert.deepEqual(wiped, ["disk"])
  })

  test("refused is an error the cell sees, and the function is not called", async () => {
    const { wiped, runtime } = guarded()
    const model = scriptedModel([
      cell('try { await wipe("disk") } catch (error) { console.log(error.name, error.message) }'),
      "ok",
    ])
    await createAgent({ model, runtime, approver: () => "deny" }).run("go")
    assert.deepEqual(wiped, [])
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /ApprovalDenied wipe was not approved/)
  })

  test("is refused when there is no approver", async () => {
    const { wiped, runtime } = guarded()
    const model = scriptedModel([cell('await wipe("disk")'), "ok"])
    await createAgent({ model, runtime }).run("go")
    assert.deepEqual(wiped, [])
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /there is no approver/)
  })

  test('waits for run.approve with approver: "events"', async () => {
    const { wiped, runtime } = guarded()
    const model = scriptedModel([cell('await wipe("disk")'), "ok"])
    const run = createAgent({ model, runtime, approver: "events" }).run("go")
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      assert.deepEqual(event.call, { binding: "wipe", args: '"disk"' })
      run.approve(event.id, "allow")
    }
    assert.deepEqual(wiped, ["disk"])
  })

  test("given for always is not asked again, in this run or the next of the session", async () => {
    const { wiped, runtime } = guarded()
    let asked = 0
    const agent = createAgent({
      model: scriptedModel([cell('await wipe("a")\nawait wipe("b")'), "ok", cell('await wipe("c")'), "ok"]),
      runtime,
      approver: () => {
        asked++
        return "always"
      },
    })
    await using session = await agent.session()
    await session.send("one")
    await session.send("two")
    assert.equal(asked, 1)
    assert.deepEqual(wiped, ["a", "b", "c"])
  })

  test("cannot be combined with a synchronous function", () => {
    assert.throws(() => fn(() => 1, { sync: true, approve: true }), ConfigError)
  })
})
