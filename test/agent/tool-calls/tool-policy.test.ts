import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { ToolPolicy } from "../../../src/actions/tool-policy.ts"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { ConfigError } from "../../../src/core/errors.ts"
import type { AgentEvent } from "../../../src/core/event.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { RuntimeCall } from "../../../src/runtime/runtime.ts"
import { agentTool } from "../../../src/tools/delegate/agent-tool.ts"
import { type Tool, tool } from "../../../src/tools/tool.ts"
import { folderWith } from "../../tools/use.ts"
import { call, calls, errorCodeOf, finish, resultsIn, toolEnds } from "../tool-call-helpers.ts"

const made: string[] = []
const named = (name: string, sideEffect = true): Tool =>
  tool({ name, description: name, sideEffect, run: () => `${made.push(name)}` })
const tools = [named("read", false), named("write"), named("shell")]

// The model calls all tools, also those it was not offered.
async function outcome(toolPolicy: ToolPolicy) {
  made.length = 0
  const model = scriptedModel([calls(call("read"), call("write"), call("shell")), calls(finish())])
  const { trajectory, status } = await createAgent({ noTool: "continue", model, tools, toolPolicy }).run("go")
  const offered = model.requests[0]?.tools?.map(({ name }) => name) ?? []
  return { offered, status, codes: toolEnds(trajectory.events).map(errorCodeOf), made: [...made] }
}

describe("a tool policy", () => {
  test("holds when tools are offered and when they are called, whatever the model makes up", async () => {
    const { offered, codes, made } = await outcome({ deny: ["shell"] })
    assert.ok(!offered.includes("shell") && offered.includes("write"))
    assert.deepEqual(codes, [undefined, undefined, "unknown-tool", undefined])
    assert.deepEqual(made, ["read", "write"])
  })

  test("may allow by name or by what a tool is, and leaves the way to end", async () => {
    assert.deepEqual((await outcome({ allow: ["read"] })).made, ["read"])
    const { made, offered, status } = await outcome({ only: ({ options }) => options.sideEffect === false })
    assert.deepEqual(made, ["read"])
    assert.ok(offered.includes("finish") && !offered.includes("write"))
    assert.equal(status, "done")
    assert.deepEqual((await outcome({ allow: ["read", "shell"], deny: ["shell"] })).made, ["read"])
  })

  test("can deny even that", async () => {
    const model = scriptedModel(["It is 4."])
    const agent = createAgent({ model, tools, toolPolicy: { deny: ["finish", "ask"] }, noTool: "answer" })
    await agent.run("go")
    assert.ok(!model.requests[0]?.tools?.some(({ name }) => name === "finish" || name === "ask"))
  })

  test("is narrowed by the runs that a run starts, never widened, through any number of them", async () => {
    made.length = 0
    const inner = scriptedModel([calls(call("read"), call("write"), call("shell")), calls(finish("Inner done."))])
    const worker = createAgent({
      noTool: "continue",
      name: "worker",
      model: inner,
      tools,
      toolPolicy: { allow: ["read", "shell"] },
    })
    // The agent in between has no tools.
    const between = createAgent({
      name: "between",
      model: scriptedModel(["```ts\n(await worker.run('go')).output\n```\n", "ok"]),
      runtime: jsRuntime({ worker }),
      toolPolicy: { deny: ["read"] },
    })
    const ask = tool({ name: "ask_worker", description: "", run: async () => (await between.run("go")).output })
    const model = scriptedModel([calls(call("ask_worker")), calls(finish())])
    await createAgent({ noTool: "continue", model, tools: [ask, ...tools], toolPolicy: { deny: ["shell"] } }).run("go")
    assert.deepEqual(made, [])
    assert.ok(!inner.requests[0]?.tools?.some(({ name }) => ["read", "write", "shell"].includes(name)))
  })

  test("holds for tools that a cell calls as functions", async () => {
    made.length = 0
    const [read, , shell] = tools
    const model = scriptedModel(["```ts\nawait read()\nawait run()\n```\n", "ok"])
    const runtime = jsRuntime({ read, run: shell })
    const { messages } = await createAgent({ model, runtime, toolPolicy: { deny: ["shell"] } }).run("go")
    assert.deepEqual(made, ["read"])
    assert.match(JSON.stringify(messages), /The tool \\"shell\\" may not be used/)
  })

  test("says nothing about tools of other names", async () => {
    const { messages } = await createAgent({
      noTool: "continue",
      model: scriptedModel([calls(call("read")), calls(finish())]),
      tools,
      toolPolicy: { deny: ["nothing"] },
    }).run("go")
    assert.equal(resultsIn(messages).length, 2)
  })

  test("is refused where it is none", () => {
    const model = scriptedModel([])
    // @ts-expect-error: a list is asked for.
    assert.throws(() => createAgent({ model, tools, toolPolicy: { allow: "read" } }), ConfigError)
    // @ts-expect-error: there is no such rule.
    assert.throws(() => createAgent({ model, tools, toolPolicy: { forbid: ["read"] } }), /toolPolicy\.forbid/)
  })
})

describe("a tool whose every call needs approval", () => {
  const pay = tool({ name: "pay", description: "Pays.", approve: true, run: () => "Paid." })
  const sometimes = tool({
    name: "some",
    description: "Pays.",
    approve: ({ args }) => args.length > 5,
    run: () => "Paid.",
  })
  const offered = (model: ReturnType<typeof scriptedModel>) => model.requests.at(-1)?.tools?.map(({ name }) => name)
  const warningsOf = (events: readonly AgentEvent[]) =>
    events.flatMap((event) => (event.type === "warning-raised" ? [`${event.code}: ${event.message}`] : []))

  test("is not offered where nobody can approve: the host is told, and a call is refused with what follows", async () => {
    const model = scriptedModel([calls(call("pay"), call("some")), "Not paid."])
    const { trajectory, output } = await createAgent({ model, tools: [pay, sometimes] }).run("go")
    assert.equal(output, "Not paid.")
    assert.deepEqual(offered(model), ["some", "ask", "read_artifact"])
    assert.match(
      warningsOf(trajectory.events)[0] ?? "",
      /^no-approver: Not offered to the model: pay\. .*approver of the agent/,
    )
    const [refused, made] = toolEnds(trajectory.events)
    assert.equal(errorCodeOf(refused), "not-approved")
    assert.match(refused?.text ?? "", /pay needs approval and there is no approver.*Every such call will be refused/)
    assert.equal(made?.text, "Paid.")
  })

  test("is offered with an approver, with readers who approve, and once it was approved for good", async () => {
    for (const approver of [() => "always" as const, "events" as const]) {
      const model = scriptedModel([calls(call("pay")), "Paid.", "Bye."])
      await using session = await createAgent({ model, tools: [pay] }).session()
      const run = session.send("go", { approver })
      for await (const event of run) {
        if (event.type === "approval-requested" && approver === "events") run.approve(event.id, "always")
      }
      assert.deepEqual(offered(model), ["pay", "ask", "read_artifact"])
      const { trajectory } = await session.send("again")
      assert.deepEqual(offered(model), ["pay", "ask", "read_artifact"])
      assert.deepEqual(warningsOf(trajectory.events), [])
    }
  })

  test("is offered to a sub-agent whose lead has an approver", async () => {
    const model = scriptedModel([calls(call("pay")), "Paid."])
    const child = createAgent({ name: "clerk", model, tools: [pay] })
    const lead = scriptedModel([calls(call("clerk", { prompt: "Pay." })), "Done."])
    await createAgent({ model: lead, tools: [agentTool(child)], approver: () => true }).run("go")
    assert.deepEqual(offered(model), ["pay", "ask", "read_artifact"])
  })

  test("is the shell by default: neither it nor check_command is offered without an approver", async (context) => {
    const workspace = await folderWith(context)
    for (const [shell, names] of [
      [true, []],
      [{ approve: false }, ["shell", "check_command"]],
    ] as const) {
      const model = scriptedModel(["Done."])
      await createAgent({ model, workspace, shell }).run("go")
      assert.deepEqual(
        offered(model)?.filter((name) => /shell|command/.test(name)),
        names,
      )
    }
  })

  test("is the shell by default: each command is asked about before it runs, in a sandbox too", async (context) => {
    const workspace = await folderWith(context)
    for (const shell of [true, { sandbox: "auto" }] as const) {
      const commands = ["echo one > one", "cat one", "cat one; rm one"]
      const model = scriptedModel([...commands.map((command) => calls(call("shell", { command }))), "Done."])
      const asked: unknown[] = []
      const approver = ({ args: [input] }: RuntimeCall) => {
        asked.push(input)
        return asked.length < 3
      }
      const { trajectory } = await createAgent({ model, workspace, shell, approver }).run("go")
      assert.deepEqual(
        asked,
        commands.map((command) => ({ command })),
      )
      assert.deepEqual(toolEnds(trajectory.events).map(errorCodeOf), [undefined, undefined, "not-approved"])
      assert.equal(new TextDecoder().decode(await workspace.read("one")), "one\n")
    }
  })
})
