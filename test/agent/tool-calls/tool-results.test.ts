import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { AgentError } from "../../../src/core/errors.ts"
import type { ImagePart } from "../../../src/core/message.ts"
import { isPaired } from "../../../src/memory/call-result-pairs.ts"
import { createPromptConverter } from "../../../src/models/ai-sdk-prompt.ts"
import { scriptedModel } from "../../../src/models/scripted.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { memoryStore } from "../../../src/stores/memory-store.ts"
import type { Store } from "../../../src/stores/store.ts"
import { handoffTool } from "../../../src/tools/delegate/agent-tool.ts"
import { finishTool } from "../../../src/tools/finish-and-ask.ts"
import { tool, toolFailure, toolResult } from "../../../src/tools/tool.ts"
import { memoryWorkspace } from "../../../src/workspaces/memory.ts"
import { call, calls, errorCodeOf, finish, resultsIn, toolEnds } from "../tool-call-helpers.ts"

const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`).join("\n")

const long = tool({ name: "long", description: "Much text.", run: () => lines(2000) })

describe("a result that is too long to show", () => {
  test("is kept whole as an artifact: head, tail, size, and a cursor to read on from", async () => {
    const workspace = memoryWorkspace()
    const model = scriptedModel([
      calls(call("long")),
      ({ messages }) => {
        const [shown] = resultsIn(messages)
        const [, name, start] =
          /artifact (\w+), read on with read_artifact from start (\d+)/.exec(shown?.text ?? "") ?? []
        return calls(call("read_artifact", { name: name ?? "", start: Number(start) }))
      },
      calls(finish()),
    ])
    const { messages, trajectory } = await createAgent({ noTool: "continue", model, tools: [long], workspace }).run(
      "go",
    )
    const [shown, read] = resultsIn(messages)
    const whole = lines(2000)
    assert.ok(shown && read && shown.text.length < 5300)
    assert.match(shown.text, new RegExp(`of ${whole.length} characters left out`))
    assert.ok(shown.text.startsWith("line 0\nline 1\n") && shown.text.endsWith("line 1999"))
    const [head = ""] = shown.text.split("\n… ")
    assert.ok(read.text.startsWith(whole.slice(head.length, head.length + 1000)))
    assert.equal(shown.kept, "_output_1")
    assert.equal(toolEnds(trajectory.events)[0]?.kept, "_output_1")
    assert.deepEqual(await Array.fromAsync(workspace.list()), [], "the workspace has the user's files alone")
  })

  test("is read on by its cursor to the last character, and an unknown name is said to be none", async () => {
    const pieces: string[] = []
    const model = scriptedModel(({ messages }) => {
      const results = resultsIn(messages)
      if (results.length === 0) return calls(call("long"))
      const last = results.at(-1)?.text ?? ""
      if (last.includes('"_output_9"')) return calls(finish())
      if (results.length > 1) pieces.push(last.replace(/\n… \d+ characters left.*$/, ""))
      const next = results.length === 1 ? "0" : /go on with start (\d+)/.exec(last)?.[1]
      if (next === undefined) return calls(call("read_artifact", { name: "_output_9" }))
      return calls(call("read_artifact", { name: "_output_1", start: Number(next) }))
    })
    const big = tool({ ...long.options, name: "long", description: "", run: () => lines(9000) })
    const { trajectory } = await createAgent({ noTool: "continue", model, tools: [big] }).run("go")
    assert.equal(pieces.join(""), lines(9000))
    assert.equal(errorCodeOf(toolEnds(trajectory.events).at(-2)), "not-found")
  })

  test("of an agent that writes code is in a variable", async () => {
    const model = scriptedModel([calls(call("long")), "```ts\n_output_1.length\n```\n", "Seen."])
    const { messages } = await createAgent({ model, tools: [long], runtime: jsRuntime() }).run("go")
    assert.match(resultsIn(messages)[0]?.text ?? "", /the whole text is in the variable _output_1/)
    assert.match(JSON.stringify(messages), new RegExp(`${lines(2000).length}`))
  })

  test("that is JSON is shortened per field, and read on as text or by the path of a field", async () => {
    const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `row ${id}`, note: "lorem ipsum ".repeat(30) }))
    const json = `{"total":12345678901234567890,"log":"${"word ".repeat(4000)}","rows":${JSON.stringify(rows)},"ok":true}`
    const report = tool({ name: "report", description: "", run: () => json })
    const read = (given: object) => call("read_artifact", { name: "_output_1", ...given })
    const model = scriptedModel([
      calls(call("report")),
      calls(
        read({}),
        read({ path: "rows[399].name" }),
        read({ path: '["total"]' }),
        read({ path: "rows[1]" }),
        read({ path: "log", start: 19_990 }),
        read({ path: "row" }),
        read({ path: "rows[400]" }),
        read({ path: "rows[0]..x" }),
      ),
      "Seen.",
    ])
    const { messages } = await createAgent({ model, tools: [report] }).run("go")
    const [shown, ...read_] = resultsIn(messages).map(({ text }) => text.replace(/^\[read_artifact .*\]\n/, ""))
    assert.match(shown ?? "", /^\{\n {2}"total": 12345678901234567890,\n {2}"log": "word word/)
    assert.match(shown ?? "", /" \(20,000 characters\),\n {2}"rows": \[\n {4}\{\n {6}"id": 0,/)
    assert.match(
      shown ?? "",
      /… 400 items\n {2}\],\n {2}"ok": true\n\}\n… shortened; the whole text is in the artifact _output_1: /,
    )
    assert.ok((shown ?? "").length < 5300)
    assert.ok(read_[0]?.startsWith(json.slice(0, 20_000)))
    assert.deepEqual(read_.slice(1, 5), ["row 399", "12345678901234567890", JSON.stringify(rows[1]), "word word "])
    assert.match(read_[5] ?? "", /_output_1: it has no "row"\. It has: total, log, rows, ok\./)
    assert.match(read_[6] ?? "", /"rows" is a list of 400 items; there is no \[400\]\./)
    assert.match(read_[7] ?? "", /the path cannot be read after "rows\[0\]"/)
  })

  test("that is JSON is data in a variable of an agent that writes code, unless a number would be rounded", async () => {
    const rows = Array.from({ length: 2000 }, (_, id) => ({ id }))
    const report = tool({ name: "report", description: "", run: () => ({ rows }) })
    const exact = tool({
      name: "exact",
      description: "",
      run: () => `{"id":12345678901234567890,"x":"${"x".repeat(9000)}"}`,
    })
    const code = "```ts\n[_output_1.rows[1999].id, _output_2.slice(6, 26)]\n```\n"
    const model = scriptedModel([calls(call("report"), call("exact")), code, "Seen."])
    const { messages } = await createAgent({ model, tools: [report, exact], runtime: jsRuntime() }).run("go")
    assert.match(resultsIn(messages)[0]?.text ?? "", /… shortened; the whole value is in the variable _output_1$/)
    assert.match(JSON.stringify(messages), /\[ 1999, '12345678901234567890' \]/)
  })

  test("is read by a run that goes on from the result, also with other files", async () => {
    const read = calls(call("read_artifact", { name: "_output_1" }), finish())
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel([calls(call("long"), finish()), read, read, read]),
      tools: [long],
    })
    const first = await agent.run("go")
    for (const changes of [{}, { workspace: memoryWorkspace() }]) {
      const { messages } = await agent.run("on", { from: first, ...changes })
      const result = resultsIn(messages).findLast(({ name }) => name === "read_artifact")
      assert.equal(result?.text, lines(2000).slice(0, 20_000))
    }
  })

  test("is read by the agent that a conversation is handed over to, which numbers its own on", async () => {
    const other = createAgent({
      noTool: "continue",
      name: "other",
      model: scriptedModel([calls(call("read_artifact", { name: "_output_1" }), call("long"), finish())]),
      tools: [long],
    })
    const model = scriptedModel([calls(call("long")), calls(call("transfer_to_other"))])
    const { trajectory } = await createAgent({ noTool: "continue", model, tools: [long, handoffTool(other)] }).run("go")
    const [first, read, second] = toolEnds(trajectory.events)
    assert.equal(read?.text, lines(2000).slice(0, 20_000))
    assert.deepEqual([first?.kept, second?.kept], ["_output_1", "_output_2"])
  })

  test("says so where it could not be kept, and the call still has its result", async () => {
    const model = scriptedModel([calls(call("long")), calls(finish())])
    const runtime = { ...jsRuntime(), keep: () => Promise.reject(new Error("the disk is full")) }
    const { status, messages } = await createAgent({ model, tools: [long, finishTool()], runtime }).run("go")
    assert.equal(status, "done")
    assert.match(resultsIn(messages)[0]?.text ?? "", /could not be kept: the disk is full/)
  })

  test("is not said to be missing where it could not be read", async () => {
    const model = scriptedModel([
      calls(call("long")),
      calls(call("read_artifact", { name: "_output_1" })),
      calls(finish()),
    ])
    const down = new AgentError("The service answered 503.", { code: "server-error" })
    const store = memoryStore()
    const get: Store["get"] = (key) => (key.includes("/artifacts/") ? Promise.reject(down) : store.get(key))
    await using session = await createAgent({ noTool: "continue", model, tools: [long] }).session({
      archive: { ...store, get },
    })
    const { trajectory } = await session.send("go")
    assert.equal(errorCodeOf(toolEnds(trajectory.events)[1]), "server-error")
  })

  test("is never cut within a character, so that reading on loses none", async () => {
    const whole = `.${"🙂".repeat(15_000)}`
    const faces = tool({ name: "faces", description: "", run: () => whole })
    const pieces: string[] = []
    const model = scriptedModel(({ messages }) => {
      const text = resultsIn(messages).at(-1)?.text
      if (text === undefined) return calls(call("faces"))
      pieces.push(text.replace(/\n… [\s\S]*$/, ""))
      const next = /start (\d+)/.exec(text)?.[1]
      return calls(next ? call("read_artifact", { name: "_output_1", start: Number(next) }) : finish())
    })
    const { messages } = await createAgent({ noTool: "continue", model, tools: [faces] }).run("go")
    assert.equal(pieces.join(""), whole)
    assert.doesNotMatch(JSON.stringify(messages), /\ufffd/)
  })

  test("may be longer where its tool says so, and failures are shortened too", async () => {
    const wide = tool({ name: "wide", description: "", maxOutputChars: 100_000, run: () => lines(2000) })
    const fails = tool({ name: "fails", description: "", run: () => toolFailure("no", lines(2000)) })
    const model = scriptedModel([calls(call("wide"), call("fails")), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools: [wide, fails] }).run("go")
    const [whole, failed] = resultsIn(messages)
    assert.equal(whole?.text, lines(2000))
    assert.match(failed?.text ?? "", /^Error \(no\): line 0[\s\S]*artifact _output_1/)
  })
})

describe("images of results", () => {
  const image = (data: string): ImagePart => ({ type: "image", mediaType: "image/png", data })
  const look = tool({
    name: "look",
    description: "Looks.",
    run: (_input, { call }) => toolResult({ text: `[${call}]`, images: [image("iVBORw0KGgo=")] }),
  })

  test("come after all results of the answer, and before what the user said", async () => {
    const speak = tool({ name: "speak", description: "", run: () => void run.steer("Look closer.") })
    const answer = calls(call("look", {}, "l1"), call("look", {}, "l2"), call("speak", {}, "s"), call("look", {}, "l3"))
    const model = scriptedModel([answer, calls(finish())])
    const run = createAgent({ noTool: "continue", model, tools: [look, speak] }).run("go")
    await run
    const write = createPromptConverter({ id: "any/model", version: "v4" })
    const messages = model.requests[1]?.messages ?? []
    const prompt = write({ system: "", messages })
    const [, , results, user] = prompt
    assert.deepEqual(
      prompt.map(({ role }) => role),
      ["user", "assistant", "tool", "user"],
    )
    assert.deepEqual(
      results?.role === "tool" && results.content.map((part) => part.type === "tool-result" && part.toolCallId),
      ["l1", "l2", "s", "l3"],
    )
    assert.deepEqual(
      user?.role === "user" && user.content.map((part) => (part.type === "text" ? part.text : part.type)),
      ["file", "file", "Look closer."],
    )
  })

  test("are left out, and said to be, where the model cannot see them", async () => {
    const model = scriptedModel([calls(call("look", {}, "l1")), calls(finish())])
    const { messages } = await createAgent({ noTool: "continue", model, tools: [look], images: false }).run("go")
    assert.equal(resultsIn(messages)[0]?.text, "[l1]\n(1 image left out: the model cannot see images.)")
    assert.equal(messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "image")).length, 0)
  })
})

describe("memory of an agent that calls tools", () => {
  const facts = (name: string, retention?: "keep") =>
    tool({ name, description: name, retention, run: (_input, { call }) => `${name} ${call} ${lines(60)}` })

  test("puts markers in the place of old results, whose artifacts the model reads back", async () => {
    const steps = Array.from({ length: 8 }, (_, step) => calls(call("facts", {}, `c${step}`)))
    const model = scriptedModel([...steps, calls(call("read_artifact", { name: "_output_1" })), calls(finish())])
    const { messages, trajectory, status } = await createAgent({
      noTool: "continue",
      model,
      tools: [facts("facts")],
      memory: { compactAtTokens: 2600, keepResults: 2, model: scriptedModel(() => "no summary") },
      limits: { cycles: 20 },
    }).run("go")
    assert.equal(status, "done")
    assert.ok(trajectory.events.some((event) => event.type === "memory-compacted"))
    const read = toolEnds(trajectory.events).find(({ name }) => name === "read_artifact")
    assert.ok(read?.ok && read.text.startsWith("facts c0 line 0"))
    assert.ok(isPaired(messages))
  })

  test("does not clear results whose tool says keep", async () => {
    const steps = Array.from({ length: 4 }, (_, step) =>
      calls(call("rules", {}, `k${step}`), call("facts", {}, `f${step}`)),
    )
    const { messages } = await createAgent({
      noTool: "continue",
      model: scriptedModel([...steps, calls(finish())]),
      tools: [facts("facts"), facts("rules", "keep")],
      memory: { compactAtTokens: 2600, keepResults: 0, model: scriptedModel(() => "no summary") },
    }).run("go")
    const results = resultsIn(messages)
    assert.ok(results.some(({ name, cleared }) => name === "facts" && cleared))
    const rules = results.filter(({ name }) => name === "rules")
    assert.ok(rules.length > 0 && rules.every(({ cleared, text }) => !cleared && text.endsWith("line 59")))
  })

  test("takes a whole answer with all its calls, and names the artifact with what was said", async () => {
    const steps = Array.from({ length: 12 }, (_, step) => calls(`Step ${step}.`, call("facts"), call("facts")))
    const model = scriptedModel([...steps, calls(finish())])
    const { messages } = await createAgent({
      noTool: "continue",
      model,
      tools: [facts("facts")],
      memory: { compactAtTokens: 1600, keepResults: 1, model: scriptedModel(() => "no summary") },
      limits: { cycles: 20 },
    }).run("go")
    assert.ok(isPaired(messages))
    assert.match(JSON.stringify(messages), /Word for word they are artifacts: _history_1/)
    for (const { messages: sent } of model.requests) assert.ok(isPaired(sent))
  })

  test("counts the tools that are offered with every request", async () => {
    const heavy = tool({ name: "heavy", description: lines(400), run: () => "" })
    const seen: number[] = []
    const model = scriptedModel([calls(call("heavy")), calls(finish())])
    await createAgent({
      noTool: "continue",
      model,
      tools: [heavy],
      memory: { compactAtTokens: 1000 },
      hooks: { beforeCompact: ({ tokens }) => void seen.push(tokens) },
    }).run("go")
    assert.ok((seen[0] ?? 0) > 1000)
  })

  test("of a conversation that goes on from a result still has its artifacts", async () => {
    const workspace = memoryWorkspace()
    const model = scriptedModel([
      calls(call("long"), call("ask", { question: "Go on?" })),
      calls(call("read_artifact", { name: "_output_1" }), call("long")),
      calls(finish()),
    ])
    const agent = createAgent({ noTool: "continue", model, tools: [long], workspace })
    const { messages } = await agent.run("yes", { from: await agent.run("go") })
    const kept = resultsIn(messages).map(({ kept }) => kept)
    assert.ok(resultsIn(messages).some(({ name, ok }) => name === "read_artifact" && ok))
    assert.deepEqual(kept.filter(Boolean), ["_output_1", "_output_2"])
  })
})
