import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { tool } from "../../../src/tools/tool.ts"
import { cell, collectRun, onlyEvent, resultShownToModel, runIdsOf, scriptedAgent } from "../scripted-agents.ts"

/** A child agent that calls `wipe` in each run. */
function wiper(options = {}) {
  const wiped: string[] = []
  const wipe = fn((what: string) => void wiped.push(what), { approve: true })
  const model = scriptedModel(({ messages }) => (messages.length === 1 ? cell('await wipe("disk")') : "Done."))
  return { wiped, child: createAgent({ name: "child", model, runtime: () => jsRuntime({ wipe }), ...options }) }
}

test("what a child wants approved is asked of the readers of its parent, and answered there", async () => {
  const { child, wiped } = wiper()
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
  const run = boss.run("go", { approver: "events" })
  const asked: string[] = []
  for await (const event of run) {
    if (event.type !== "approval-requested") continue
    asked.push(event.call.binding)
    assert.equal(event.parent, run.id)
    run.approve(event.id, "allow")
  }
  assert.deepEqual(asked, ["wipe"])
  assert.deepEqual(wiped, ["disk"])
  assert.throws(() => run.approve("call_1", "allow"), /No approval "call_1" is waiting/)
})

test("an answer reaches the call that was asked about, also where the models of two children number their calls alike", async () => {
  const paid: string[] = []
  const payer = (name: string) => {
    const pay = tool({
      name: "pay",
      description: "",
      input: { type: "object", properties: { to: { type: "string" } } },
      approve: true,
      run: ({ to }) => void paid.push(String(to)),
    })
    const answers = [[{ type: "tool-call" as const, id: "call_0", name: "pay", input: { to: name } }], "Done."]
    return createAgent({ name, model: scriptedModel(answers), tools: [pay], noTool: "answer" })
  }
  const runtime = jsRuntime({ ann: payer("ann"), bob: payer("bob") })
  const both = cell('await Promise.all([ann.run("go"), bob.run("go")])')
  const run = scriptedAgent("boss", [both, "Done."], { runtime }).run("go", { approver: "events" })
  const asked: { id: string; text: string | undefined }[] = []
  for await (const event of run) {
    if (event.type === "approval-requested") asked.push({ id: event.id, text: run.pendingCall(event.id) })
    if (event.type !== "approval-requested" || asked.length < 2) continue
    for (const { id, text } of asked) run.approve(id, text?.includes("ann") ? "allow" : "deny")
  }
  assert.deepEqual(asked.map(({ text }) => text).sort(), ['pay({ to: "ann" })', 'pay({ to: "bob" })'])
  assert.deepEqual(paid, ["ann"])
})

test("a refusal of a parent's watcher is an error in the child's cell", async () => {
  const { child, wiped } = wiper()
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
  const run = boss.run("go", { approver: "events" })
  const events = []
  for await (const event of run) {
    events.push(event)
    if (event.type === "approval-requested") run.approve(event.id, "deny")
  }
  assert.match(onlyEvent(events, "code-end", "child").text, /wipe was not approved/)
  assert.deepEqual(wiped, [])
})

test("no approver in the whole family means no", async () => {
  const { child, wiped } = wiper()
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
  await boss.run("go")
  assert.deepEqual(wiped, [])
})

test("a child without an answerer of its own has its parent's", async () => {
  const { child, wiped } = wiper()
  const asked: string[] = []
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
    runtime: jsRuntime({ child }),
    approver: ({ binding }: { binding: string }) => asked.push(binding) > 0,
  })
  await boss.run("go")
  assert.deepEqual(asked, ["wipe"])
  assert.deepEqual(wiped, ["disk"])
})

test("a child with an answerer of its own keeps it", async () => {
  const { child, wiped } = wiper({ approver: () => false })
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
    runtime: jsRuntime({ child }),
    approver: () => true,
  })
  await boss.run("go")
  assert.deepEqual(wiped, [])
})

test("`always` holds for later runs of the same child in the same run, and for no other agent", async () => {
  const { child, wiped } = wiper()
  const { child: other, wiped: otherWiped } = wiper()
  const asked: string[] = []
  const code = 'await child.run("one"); await child.run("two"); await other.run("three")'
  const boss = scriptedAgent("boss", [cell(code), "Done.", cell(code), "Done."], {
    runtime: jsRuntime({ child, other }),
    approver({ binding }: { binding: string }) {
      asked.push(binding)
      return "always" as const
    },
  })
  await boss.run("go")
  assert.deepEqual([asked.length, wiped.length, otherWiped.length], [2, 2, 1])
  await boss.run("again")
  assert.deepEqual([asked.length, wiped.length], [4, 4])
})

test("time stands still for all above while somebody thinks about a child's call", async (context) => {
  const { child, wiped } = wiper()
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
    runtime: jsRuntime({ child }),
    limits: { timeMs: 60_000 },
    approver() {
      context.mock.timers.tick(120_000)
      return true
    },
  })
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] })
  assert.equal((await boss.run("go")).status, "done")
  assert.deepEqual(wiped, ["disk"])
})

test("an abort of the parent ends a child's question", async () => {
  const { child, wiped } = wiper()
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], { runtime: jsRuntime({ child }) })
  const run = boss.run("go", { approver: "events" })
  const events = []
  for await (const event of run) {
    events.push(event)
    if (event.type === "approval-requested") run.abort()
  }
  assert.equal(onlyEvent(events, "run-end", "child").status, "aborted")
  assert.deepEqual(wiped, [])
})

test("hooks of a parent see and stop the calls of its children", async () => {
  const seen: string[] = []
  const send = (to: string) => `sent to ${to}`
  const model = scriptedModel([cell('await send("everybody")'), "Done."])
  const child = createAgent({ name: "child", model, runtime: jsRuntime({ send }) })
  const boss = scriptedAgent("boss", [cell('await child.run("go")'), "Done."], {
    runtime: jsRuntime({ child }),
    hooks: {
      beforeCall(call, { agent }) {
        seen.push(`${agent}: ${call.binding}${call.method ? `.${call.method}` : ""}`)
        return call.binding === "send" ? { refuse: "not today" } : undefined
      },
    },
  })
  const { events } = await collectRun(boss.run("go"))
  assert.deepEqual(seen, ["boss: child.run", "child: send"])
  assert.match(resultShownToModel(model), /send was not called: not today/)
  assert.equal(runIdsOf(events).size, 2)
})

test("a run is awaited with its time, whichever of its children asks at once", async () => {
  const children = [wiper(), wiper(), wiper()]
  const runtime = jsRuntime({ children: variable(children.map(({ child }) => child)) })
  const boss = scriptedAgent("boss", [cell('await Promise.all(children.map((child) => child.run("go")))'), "Done."], {
    runtime,
  })
  const run = boss.run("go", { approver: "events" })
  const ids: string[] = []
  for await (const event of run) {
    if (event.type !== "approval-requested") continue
    ids.push(event.id)
    if (ids.length === 3) for (const id of ids.reverse()) run.approve(id, "allow")
  }
  assert.deepEqual(
    children.map(({ wiped }) => wiped),
    [["disk"], ["disk"], ["disk"]],
  )
})
