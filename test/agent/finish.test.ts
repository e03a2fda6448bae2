import assert from "node:assert/strict"
import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, messageText, type Run } from "karst"
import { display } from "karst/display"
import { scriptedModel } from "karst/models"
import { agentTool, todosTool } from "karst/tools"
import * as z from "zod"
import { guardOutput, validateOutput } from "../../src/agent/guardrails.ts"
import { fn } from "../../src/runtime/bindings.ts"
import { toAtif } from "../../src/sessions/atif.ts"
import { tool } from "../../src/tools/tool.ts"
import { call, calls } from "./tool-call-helpers.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

const collect = async (run: Run) => {
  const events = await Array.fromAsync(run)
  return { events, result: await run }
}

describe("finish(text) in a cell", () => {
  test("ends the run with that text: in the result, the events and the conversation", async () => {
    const model = scriptedModel([`I list them.\n${cell("finish(ids.join('\\n'))")}`])
    const agent = createAgent({ model, runtime: () => jsRuntime({ ids: ["a1", "b2", "c3"] }) })
    const { events, result } = await collect(agent.run("List the ids"))
    assert.deepEqual([result.status, result.output, result.cycles], ["done", "a1\nb2\nc3", 1])
    assert.deepEqual(result.completion, { by: "answer" })
    assert.equal(model.requests.length, 1)
    const types = events.map(({ type }) => type).filter((type) => !/^code-delta|^call/.test(type))
    assert.deepEqual(types.slice(-5), ["code-end", "text-delta", "message-end", "cycle-end", "run-end"])
    const [last] = events.filter((event) => event.type === "message-end").slice(-1)
    assert.deepEqual([last?.finish, last?.usage], ["cell", { input: 0, output: 0, complete: true }])
    const tail = result.messages.slice(-3).map((message) => [message.role, messageText(message)])
    assert.deepEqual(
      tail.map(([role]) => role),
      ["assistant", "result", "assistant"],
    )
    assert.equal(tail[2]?.[1], "a1\nb2\nc3")
  })

  for (const mode of ["full", "short"] as const) {
    test(`is displayed once in the ${mode} display`, async () => {
      const model = scriptedModel([cell("finish(['The', 'answer'].join(' '))")])
      const stream = new PassThrough()
      await display(createAgent({ model }).run("Go"), { stream, input: new PassThrough(), color: false, mode })
      stream.end()
      assert.equal((await text(stream)).split("● The answer").length, 2)
    })
  }

  test("costs no tokens, and the tokens of the cycle stay with the answer that the model wrote", async () => {
    const model = scriptedModel([cell("finish('42')")])
    const { trajectory, usage } = await createAgent({ model }).run("Go")
    const steps = toAtif(trajectory).steps.filter(({ source }) => source === "agent")
    assert.deepEqual(
      steps.map(({ metrics }) => metrics?.completion_tokens),
      [usage.output, 0],
    )
    assert.equal(steps[1]?.message, "42")
  })

  test("is known to the next turn of a session", async () => {
    const model = scriptedModel([cell("finish('It is 42.')"), "As I said."])
    await using session = await createAgent({ model }).session()
    await session.send("What is it?")
    assert.equal((await session.send("Again?")).output, "As I said.")
    const roles = model.requests[1]?.messages.map(({ role }) => role)
    assert.deepEqual(roles, ["user", "assistant", "result", "assistant", "user"])
    assert.match(messageText(model.requests[1]?.messages[3] ?? assert.fail()), /^It is 42\.$/)
  })

  test("has no effect in a cell that fails, and the model goes on", async () => {
    const model = scriptedModel([cell("finish('wrong')\nthrow new Error('no')"), "Right."])
    const { output, messages } = await createAgent({ model }).run("Go")
    assert.equal(output, "Right.")
    assert.equal(messages.filter((message) => messageText(message) === "wrong").length, 0)
  })

  test("has no effect in a transaction whose check refuses the cell", async () => {
    const account = { balance: 10 }
    const model = scriptedModel([cell("account.balance -= 20\nfinish('Paid.')"), cell("finish('Not paid.')")])
    const transaction = { check: () => account.balance >= 0 }
    const { output } = await createAgent({ model, runtime: jsRuntime({ account }), transaction }).run("Pay")
    assert.deepEqual([output, account.balance], ["Not paid.", 10])
  })

  test("ends the run with an error as the output of a cell shows it, without frames of the host", async () => {
    const model = scriptedModel([cell("finish(new Error('No such order'))")])
    const { output } = await createAgent({ model }).run("Go")
    assert.equal(output, "Error: No such order\n    at cell-1.ts:1:8")
  })

  test("fails the cell if it is called twice", async () => {
    const model = scriptedModel([cell("if (true) finish('none')\nfinish('all')"), "ok"])
    const { output } = await createAgent({ model }).run("Go")
    assert.equal(output, "ok")
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /already called in this cell\. It does not end/)
  })

  test("takes effect only when the declared outputs are valid", async () => {
    const model = scriptedModel([cell("finish('early')"), cell("const total = 3\nfinish('3 in all')")])
    const result = await createAgent({ model }).run("Add up", { outputs: { total: z.number() } })
    assert.deepEqual([result.status, result.output, result.objects], ["done", "3 in all", { total: 3 }])
    assert.match(messageText(model.requests[1]?.messages.at(-1) ?? assert.fail()), /total: is not assigned/)
    assert.equal(result.messages.filter((message) => messageText(message) === "early").length, 0)
  })

  test("passes guardrails and verify as any answer does", async () => {
    const model = scriptedModel([cell("finish('not JSON')"), cell("finish({ a: 1 })"), cell("finish('{\"a\": 1}')")])
    const hooks = validateOutput(z.object({ a: z.number() }), { maxRepairs: 2 })
    const verify = (_runtime: unknown, { output }: { output: string }) => output === '{"a": 1}'
    const result = await createAgent({ model, hooks }).run("Go", { verify })
    assert.deepEqual([result.output, result.cycles, result.verdict?.pass], ['{"a": 1}', 3, true])
    const withheld = createAgent({
      model: scriptedModel([cell("finish('secret')")]),
      hooks: guardOutput((text) => (text === "secret" ? { block: "A secret." } : undefined)),
    })
    const { status, reason, output } = await withheld.run("Go")
    assert.deepEqual([status, reason, output], ["stopped", "guardrail", ""])
  })

  test("passes the afterModel hooks before it is stored", async () => {
    const redact = (text: string) => text.replace(/\d{4}/g, "####")
    const agent = createAgent({
      model: scriptedModel([cell("finish(`card ${pin}`)")]),
      runtime: () => jsRuntime({ pin: 4111 }),
      hooks: {
        afterModel: ({ parts }) => ({
          parts: parts.map((part) => (part.type === "text" ? { ...part, text: redact(part.text) } : part)),
        }),
      },
    })
    const { events, result } = await collect(agent.run("Go"))
    assert.equal(result.output, "card ####")
    assert.doesNotMatch(JSON.stringify(events.filter(({ type }) => type !== "run-start")), /4111/)
    const stopped = createAgent({
      model: scriptedModel([cell("finish('x')")]),
      hooks: { afterModel: ({ parts }) => (parts[0]?.type === "text" ? { stop: "No text." } : undefined) },
    })
    const end = await stopped.run("Go")
    assert.deepEqual([end.status, end.detail, end.output], ["stopped", "No text.", ""])
  })

  test("waits for the calls of its cell, and for their approval", async () => {
    const sent: string[] = []
    const runtime = jsRuntime({ send: fn((text: string) => sent.push(text), { approve: true }) })
    const model = scriptedModel([cell("finish('Sent.')\nawait send('hi')"), "Refused."])
    const agent = createAgent({ model, runtime, approver: () => "allow" })
    assert.equal((await agent.run("Go")).output, "Sent.")
    assert.deepEqual(sent, ["hi"])
    const denied = createAgent({
      model: scriptedModel([cell("finish('Sent.')\nawait send('hi')"), "Refused."]),
      runtime,
      approver: () => "deny",
    })
    assert.equal((await denied.run("Go")).output, "Refused.")
  })

  test("does not end the run if the user steered during the cell", async () => {
    let steer = () => {}
    const model = scriptedModel([cell("steerNow()\nfinish('one')"), cell("finish('two')")])
    const run = createAgent({ model, runtime: jsRuntime({ steerNow: () => steer() }) }).run("Go")
    steer = () => run.steer("Two, please.")
    const { output } = await run
    assert.equal(output, "two")
    assert.equal(messageText(model.requests[1]?.messages.at(-1) ?? assert.fail()), "Two, please.")
  })

  test("does not end the run while todos are open, as an answer does not", async () => {
    const model = scriptedModel([
      calls(call("write_todos", { todos: [{ id: "1", title: "Look", status: "pending" }] })),
      cell("finish('first')"),
      cell("finish('second')"),
    ])
    const { output } = await createAgent({ model, runtime: jsRuntime(), tools: [todosTool()] }).run("Go")
    assert.equal(output, "second")
    assert.match(messageText(model.requests[2]?.messages.at(-1) ?? assert.fail()), /todos are open/)
  })

  test("ends the run after the tool calls of the same answer, unless one fails", async () => {
    const made: string[] = []
    const ok = tool({ name: "ok", description: "", run: () => void made.push("ok") })
    const bad = tool({
      name: "bad",
      description: "",
      run() {
        throw new Error("broken")
      },
    })
    const runtime = jsRuntime()
    const done = createAgent({ model: scriptedModel([calls(cell("finish('x')"), call("ok"))]), runtime, tools: [ok] })
    const result = await done.run("Go")
    assert.deepEqual([result.output, made, result.messages.at(-1)?.role], ["x", ["ok"], "assistant"])
    const model = scriptedModel([calls(cell("finish('x')"), call("bad")), "Failed."])
    assert.equal((await createAgent({ model, runtime, tools: [bad] }).run("Go")).output, "Failed.")
    assert.match(messageText(model.requests[1]?.messages.at(-1) ?? assert.fail()), /^\(finish had no effect/)
  })

  test("has no effect in the first of several cells, of which only the first is run", async () => {
    const log: number[] = []
    const answer = `${cell("log.push(1)\nfinish('one')")}\nAnd then:\n${cell("log.push(2)")}`
    for (const chunkSize of [1, 7, answer.length]) {
      log.length = 0
      const parts = answer
        .match(new RegExp(`[^]{1,${chunkSize}}`, "g"))
        ?.map((text) => ({ type: "text", text }) as const)
      const model = scriptedModel([parts ?? [], cell("finish('both')")])
      const { output } = await createAgent({ model, runtime: jsRuntime({ log }) }).run("Go")
      assert.deepEqual([output, log], ["both", [1]])
      const told = messageText(model.requests[1]?.messages.at(-1) ?? assert.fail())
      assert.match(told, /^\(finish had no effect, because another code block followed/)
    }
    const prose = scriptedModel([`${cell("finish('one')")}\nThe output:\n\`\`\`text\none\n\`\`\`\nDone.`])
    assert.equal((await createAgent({ model: prose }).run("Go")).output, "one")
  })

  test("gives way to a tool of the same answer that ends the run", async () => {
    const stop = tool({ name: "stop", description: "", run: () => "by the tool" })
    const model = scriptedModel([calls(cell("finish('by the cell')"), call("stop"))])
    const result = await createAgent({ model, runtime: jsRuntime(), tools: [stop], stopOn: ["stop"] }).run("Go")
    assert.deepEqual([result.output, result.completion], ["by the tool", { by: "tool", tool: "stop" }])
    assert.equal(result.messages.filter((message) => messageText(message) === "by the cell").length, 0)
  })

  test("ends only the run of the sub-agent whose cell calls it", async () => {
    const helper = createAgent({ name: "helper", model: scriptedModel(() => cell("finish('helped')")) })
    const inCell = createAgent({
      model: scriptedModel([cell("const { output } = await helper.run('Help')\noutput"), "Done."]),
      runtime: () => jsRuntime({ helper }),
    })
    const result = await inCell.run("Go")
    assert.equal(result.output, "Done.")
    assert.match(JSON.stringify(result.messages), /helped/)
    const byTool = createAgent({
      model: scriptedModel([calls(call("helper", { prompt: "Help" })), "Done."]),
      tools: [agentTool(helper)],
    })
    const told = await byTool.run("Go")
    assert.equal(told.output, "Done.")
    assert.match(JSON.stringify(told.messages), /helped/)
  })

  test("works with the type gate, which knows it", async () => {
    const model = scriptedModel([cell("finish([1, 2])"), "never"])
    const { output } = await createAgent({ model, runtime: jsRuntime(), typeGate: "block" }).run("Go")
    assert.equal(output, "[ 1, 2 ]")
  })

  test("is a name that neither a binding nor an output may have", async () => {
    const cure = /"finish" .*choose another name/
    assert.throws(() => jsRuntime({ finish: () => 1 }), cure)
    const agent = createAgent({ model: scriptedModel(["ok"]) })
    await assert.rejects(async () => agent.run("Go", { outputs: { finish: z.string() } }), cure)
  })

  test("is named in the prompt of an agent that writes code, and only there", async () => {
    const model = scriptedModel(["ok", "ok"])
    await createAgent({ model }).run("Go")
    assert.match(model.requests[0]?.system ?? "", /`finish\(text\)`/)
    const tools = [tool({ name: "look", description: "", run: () => "" })]
    await createAgent({ model, tools }).run("Go")
    assert.doesNotMatch(model.requests[1]?.system ?? "", /finish/)
  })
})
