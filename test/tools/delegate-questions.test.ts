import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Agent } from "../../src/core/agent.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { agentTool, handoffTool } from "../../src/tools/delegate/agent-tool.ts"
import { askTool } from "../../src/tools/finish-and-ask.ts"
import { tool } from "../../src/tools/tool.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { cell, collectRun, runIdsOf } from "../agent/scripted-agents.ts"
import { call, delegate, finish, resultIn, saidIn } from "./delegate-case.ts"

const look = tool({ name: "look", description: "Looks", run: () => "nothing" })

/** A sub-agent that asks once, and then repeats the answer. */
function asker(name: string, question = "Which colour?", options: string[] = ["red", "blue"]) {
  const model = scriptedModel((request) => {
    const answered = request.messages.some(({ parts }) => parts.some((part) => part.type === "tool-result"))
    if (!answered) return call("ask", { question, options }, `ask-${name}`)
    return finish(`${name} takes ${saidIn(request)}`)
  })
  return createAgent({ noTool: "continue", name, model, tools: [look] })
}

/** Passes the user's answer to a task that asked. */
const passOn =
  (...ids: string[]): ScriptedStep =>
  (request) =>
    call("delegate", { tasks: ids.map((id) => ({ continue: id, prompt: saidIn(request) })) }, `on-${ids}`)

describe("a question of a sub-agent", () => {
  test("makes the run wait with that question, and the answer goes on to the sub-agent", async () => {
    const model = scriptedModel([delegate(["painter: paint"]), passOn("t1"), finish("Painted.")])
    const agent = createAgent({ noTool: "continue", name: "lead", model, agents: { painter: asker("painter") } })
    await using session = await agent.session()
    const asked = await session.send("Paint the shed")
    assert.equal(asked.status, "waiting")
    assert.deepEqual(asked.completion, { by: "question", tool: "delegate" })
    assert.ok(asked.pending?.kind === "question")
    assert.deepEqual([asked.pending.question, asked.pending.options], ["Which colour?", ["red", "blue"]])
    assert.match(resultIn({ messages: asked.messages }), /\[t1 painter\] asks the user: Which colour\?/)
    const { status, output } = await session.send("blue")
    assert.deepEqual([status, output], ["done", "Painted."])
    assert.equal(resultIn(model.requests[2]), "[t1 painter] done.\npainter takes blue")
  })

  test("is answered in the same way when the run is continued by its result", async () => {
    const model = scriptedModel([delegate(["painter: paint"]), passOn("t1"), finish("Painted.")])
    const agent = createAgent({ noTool: "continue", name: "lead", model, agents: { painter: asker("painter") } })
    const asked = await agent.run("Paint the shed")
    const { status } = await agent.run("red", { from: asked })
    assert.equal(status, "done")
    assert.equal(resultIn(model.requests[2]), "[t1 painter] done.\npainter takes red")
  })

  test("is answered in the same way when the run is continued with other files", async () => {
    const model = scriptedModel([delegate(["painter: paint"]), passOn("t1"), call("list_files"), finish("Painted.")])
    const agent = createAgent({ noTool: "continue", name: "lead", model, agents: { painter: asker("painter") } })
    const asked = await agent.run("Paint the shed")
    const workspace = memoryWorkspace()
    await workspace.write("plan.txt", "red")
    const { status } = await agent.run("red", { from: asked, workspace })
    assert.equal(status, "done")
    assert.equal(resultIn(model.requests[2]), "[t1 painter] done.\npainter takes red")
    assert.match(resultIn(model.requests[3]), /plan\.txt/)
  })

  test("the sub-agent goes on in its own conversation and runtime", async () => {
    const painter = createAgent({
      name: "painter",
      model: scriptedModel([
        cell("const area = 12; area"),
        call("ask", { question: "Which colour?" }),
        cell("area * 2"),
        "Painted 24.",
      ]),
      runtime: () => jsRuntime(),
      // Code agents have no ask tool by default.
      tools: [askTool()],
    })
    const model = scriptedModel([delegate(["painter: paint"]), passOn("t1"), finish("Done.")])
    const agent = createAgent({ noTool: "continue", model, agents: { painter } })
    await using session = await agent.session()
    assert.equal((await session.send("go")).status, "waiting")
    await session.send("red")
    assert.equal(resultIn(model.requests[2]), "[t1 painter] done.\nPainted 24.")
  })

  test("a runtime that a waiting sub-agent has open is closed with the session, or when it is done", async () => {
    const closed: string[] = []
    const painter = (name: string) =>
      createAgent({
        name,
        model: scriptedModel([call("ask", { question: "Which?" }), "Done."]),
        tools: [askTool()],
        runtime() {
          const runtime = jsRuntime()
          const close = runtime.close.bind(runtime)
          return Object.assign(runtime, {
            async close() {
              closed.push(name)
              await close()
            },
          })
        },
      })
    const steps = [delegate(["a: go", "b: go"]), passOn("t1"), finish("Done.")]
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel(steps),
      agents: { a: painter("a"), b: painter("b") },
    })
    const session = await agent.session()
    await session.send("go")
    assert.deepEqual(closed, [])
    await session.send("red")
    assert.deepEqual(closed, ["a"])
    await session.close()
    assert.deepEqual(closed, ["a", "b"])
  })

  test("several questions of one batch are asked together, next to the answers of the others", async () => {
    const agents = { a: asker("a", "Size?", []), b: asker("b"), c: createAgent({ model: scriptedModel(["ready"]) }) }
    const model = scriptedModel([delegate(["a: go", "b: go", "c: go"]), passOn("t1", "t2"), finish("Done.")])
    const agent = createAgent({ noTool: "continue", model, agents })
    await using session = await agent.session()
    const { pending } = await session.send("go")
    assert.ok(pending?.kind === "question")
    assert.equal(pending.question, "1. a: Size?\n2. b: Which colour? (red / blue)")
    await session.send("big and red")
    assert.match(resultIn(model.requests[2]), /a takes big and red.*b takes big and red/s)
  })

  test("of a task in the background is asked when the model asks after it, once", async () => {
    const steps = [
      delegate(["painter: go"], { background: true }),
      call("delegate_status", { wait: true }),
      call("delegate_status", {}, "again"),
      finish("It still waits."),
    ]
    const model = scriptedModel(steps)
    const agent = createAgent({ noTool: "continue", model, agents: { painter: asker("painter") } })
    await using session = await agent.session()
    const { status, pending } = await session.send("go")
    assert.deepEqual([status, pending?.kind], ["waiting", "question"])
    assert.equal((await session.send("hm")).status, "done")
    assert.match(resultIn(model.requests[3]), /\[t1 painter\] asks the user/)
  })

  test("can be left unanswered: the model does something else instead", async () => {
    const model = scriptedModel([delegate(["painter: paint"]), finish("Left as it is.")])
    const agent = createAgent({ noTool: "continue", model, agents: { painter: asker("painter") } })
    await using session = await agent.session()
    await session.send("Paint the shed")
    assert.equal((await session.send("Never mind")).output, "Left as it is.")
  })

  test("that nobody asked cannot be answered", async () => {
    const steps = [
      delegate(["w: go"]),
      call("delegate", { tasks: [{ continue: "t1", prompt: "blue" }] }),
      finish("Done."),
    ]
    const model = scriptedModel(steps)
    await createAgent({
      noTool: "continue",
      model,
      agents: { w: createAgent({ model: scriptedModel(["ready"]) }) },
    }).run("go")
    assert.match(resultIn(model.requests[2]), /not-waiting.*t1 asked nothing, it is done\. Give it as a new task/)
  })

  test("has one answer, not two in one call", async () => {
    const model = scriptedModel([delegate(["painter: paint"]), passOn("t1", "t1"), passOn("t1"), finish("Done.")])
    const agent = createAgent({ noTool: "continue", model, agents: { painter: asker("painter") } })
    await using session = await agent.session()
    await session.send("go")
    await session.send("red")
    assert.match(resultIn(model.requests[2]), /same-task.*t1 is there twice/)
    assert.equal(resultIn(model.requests[3]), "[t1 painter] done.\npainter takes red")
  })

  test("climbs through every level, and the answer goes down the same way", async () => {
    const middleModel = scriptedModel([delegate(["painter: go"]), passOn("t1"), finish("All painted.")])
    const middle = createAgent({
      noTool: "continue",
      name: "middle",
      model: middleModel,
      agents: { painter: asker("painter") },
    })
    const model = scriptedModel([delegate(["middle: go"]), passOn("t1"), finish("Done.")])
    const agent = createAgent({ noTool: "continue", name: "lead", model, agents: { middle } })
    await using session = await agent.session()
    const { pending } = await session.send("go")
    assert.ok(pending?.kind === "question")
    assert.equal(pending.question, "Which colour?")
    await session.send("blue")
    assert.equal(resultIn(middleModel.requests[2]), "[t1 painter] done.\npainter takes blue")
    assert.equal(resultIn(model.requests[2]), "[t1 middle] done.\nAll painted.")
  })
})

describe("agentTool", () => {
  test("makes any agent a tool: a prompt in, its answer out", async () => {
    const poet = createAgent({
      name: "poet",
      description: "Writes poems",
      model: scriptedModel(({ messages }) => `Ode (${messages.length})`),
    })
    const model = scriptedModel([call("poet", { prompt: "An ode" }), finish("Done.")])
    await createAgent({ noTool: "continue", model, tools: [agentTool(poet)] }).run("go")
    assert.equal(resultIn(model.requests[1]), "Ode (1)")
    const spec = model.requests[0]?.tools?.find(({ name }) => name === "poet")
    assert.equal(spec?.description, "Writes poems")
  })

  test("may be called and described otherwise, and makes a word of any name", () => {
    const agent = createAgent({ name: "2nd poet!", model: scriptedModel([]) })
    assert.equal(agentTool(agent).name, "agent_2nd_poet_")
    const named = agentTool(agent, { name: "verse", description: "Verses", timeoutMs: 5 })
    assert.deepEqual([named.name, named.description, named.options.timeoutMs], ["verse", "Verses", 5])
    assert.throws(() => agentTool({} as never), /agentTool: this is no agent/)
  })

  test("a failure is a result with a code, and a question one that the user is asked", async () => {
    const broken = createAgent({ name: "broken", model: scriptedModel([new Error("no wires")]) })
    const model = scriptedModel([
      call("broken", { prompt: "go" }),
      call("painter", { prompt: "go" }),
      (request) => call("painter", { continue: "t2", prompt: saidIn(request) }),
      call("painter", { continue: "t2", prompt: "again" }, "twice"),
      finish("Done."),
    ])
    const agent = createAgent({ noTool: "continue", model, tools: [agentTool(broken), agentTool(asker("painter"))] })
    await using session = await agent.session()
    const { pending } = await session.send("go")
    assert.match(resultIn(model.requests[1]), /^Error \(sub-agent-failed\): .*no wires/)
    assert.equal(pending?.kind, "question")
    await session.send("blue")
    assert.equal(resultIn(model.requests[3]), "painter takes blue")
    assert.match(resultIn(model.requests[4]), /not-waiting/)
  })

  test("a call that is out of time ends the run behind it", async () => {
    const slow = createAgent({
      name: "slow",
      model: scriptedModel([
        async ({ signal }) => {
          await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
          return "late"
        },
      ]),
    })
    const model = scriptedModel([call("slow", { prompt: "go" }), finish("Done.")])
    const run = createAgent({
      noTool: "continue",
      name: "lead",
      model,
      tools: [agentTool(slow, { timeoutMs: 1 })],
    }).run("go")
    const { events } = await collectRun(run)
    assert.match(resultIn(model.requests[1]), /Error \(timeout\)/)
    const [id] = runIdsOf(events, "slow")
    const end = events.find((event) => event.type === "run-end" && event.run === id)
    assert.equal(end?.type === "run-end" && end.status, "aborted")
  })
})

describe("handoffTool", () => {
  test("ends the run with what the other agent says, which knows the conversation", async () => {
    const expert = scriptedModel([finish("The refund is on its way.")])
    const refunds = createAgent({
      noTool: "continue",
      name: "refunds",
      description: "Handles refunds",
      model: expert,
      tools: [look],
    })
    const model = scriptedModel([call("look"), call("transfer_to_refunds", { prompt: "They want it fast." })])
    const agent = createAgent({ noTool: "continue", name: "desk", model, tools: [look, handoffTool(refunds)] })
    const result = await agent.run("I want my money back")
    assert.deepEqual(
      [result.status, result.output, result.completion],
      ["done", "The refund is on its way.", { by: "handoff", tool: "transfer_to_refunds", agent: "refunds" }],
    )
    const [request] = expert.requests
    assert.deepEqual(
      request?.messages.map(({ role }) => role),
      ["user", "assistant", "result", "user"],
      "without the call that hands it over",
    )
    assert.equal(saidIn(request ?? assert.fail()), "They want it fast.")
    assert.equal(resultIn({ messages: result.messages }), "The refund is on its way.")
  })

  test("where the other agent fails, the run goes on", async () => {
    const broken = createAgent({ name: "broken", model: scriptedModel([new Error("no wires")]) })
    const model = scriptedModel([call("transfer_to_broken"), finish("I did it myself.")])
    const { output, completion } = await createAgent({ noTool: "continue", model, tools: [handoffTool(broken)] }).run(
      "go",
    )
    assert.equal(output, "I did it myself.")
    assert.equal(completion.by, "tool")
  })

  test("the other agent may ask, and goes on with the answer", async () => {
    const model = scriptedModel([
      call("transfer_to_painter"),
      (request) => call("transfer_to_painter", { continue: "t1", prompt: saidIn(request) }, "again"),
    ])
    const agent = createAgent({ noTool: "continue", model, tools: [look, handoffTool(asker("painter"))] })
    await using session = await agent.session()
    assert.equal((await session.send("Paint it")).status, "waiting")
    const { output, completion } = await session.send("blue")
    assert.deepEqual([output, completion.by], ["painter takes blue", "handoff"])
  })

  test("agents that hand each other over for ever come to an end at the depth limit", async () => {
    const model = scriptedModel((request) =>
      /too-deep/.test(resultIn(request)) ? finish("Enough.") : call("transfer_to_pong"),
    )
    const pong: Agent = createAgent({
      noTool: "continue",
      name: "pong",
      model: scriptedModel((request) =>
        /too-deep/.test(resultIn(request)) ? finish("Enough.") : call("transfer_to_ping"),
      ),
      tools: [
        handoffTool({ ...createAgent({ model }), name: "ping", run: (prompt, options) => ping.run(prompt, options) }),
      ],
    })
    const ping = createAgent({ noTool: "continue", name: "ping", model, tools: [handoffTool(pong)] })
    const { events, result } = await collectRun(ping.run("go"))
    assert.equal(result.output, "Enough.")
    assert.equal(runIdsOf(events).size, 5)
  })
})
