// An agent that gets code which is not run tells its model what to do, and goes on.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { tool } from "../../src/tools/tool.ts"

async function runWith(answers: string[]) {
  const model = scriptedModel(answers)
  const calls: string[] = []
  const runtime = jsRuntime({ act: (what: string) => calls.push(what) })
  const result = await createAgent({ model, runtime }).run("go")
  const notes = result.messages.flatMap((message) =>
    message.role === "user" && message.origin === "host"
      ? message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
      : [],
  )
  return { result, calls, notes, model }
}

describe("an answer with code that is not run", () => {
  const sentBack: { [what: string]: { answer: string; note: RegExp } } = {
    "the other language": {
      answer: "```python\nact('x')\n```\n",
      note: /runs TypeScript.*Python code was not run.*```ts/,
    },
    "a quotation": { answer: "> ```ts\n> act('x')\n> ```\n", note: /in a quotation/ },
    "a shell command": { answer: "Let me look:\n```bash\nls\n```\n", note: /```bash block was not run/ },
    "a tool call as text": { answer: '```json\n{"name": "act", "arguments": {}}\n```\n', note: /call was not made/ },
    "code in XML": { answer: "<execute>\nact('x')\n</execute>\n", note: /<execute> has no effect/ },
    "untagged code": { answer: "The code:\n```\nact('x')\n```\n", note: /not tagged.*```ts block.*```text/ },
    "an empty block": { answer: "```ts\n```\n", note: /contains no code/ },
    "only thoughts": { answer: "<think>\n```ts\nact('x')\n```\n</think>\n", note: /only thoughts/ },
    "thoughts that never end": { answer: "<think>\n```ts\nact('x')\n```\n", note: /only thoughts/ },
  }
  for (const [what, { answer, note }] of Object.entries(sentBack)) {
    test(`is sent back: ${what}`, async () => {
      const { result, calls, notes } = await runWith([answer, "Done."])
      assert.equal(result.output, "Done.")
      assert.equal(result.cycles, 2)
      assert.deepEqual(calls, [])
      assert.equal(notes.length, 1)
      assert.match(notes[0] ?? "", note)
      assert.ok((notes[0] ?? "").length < 250)
    })
  }

  test("stays in the conversation as the model wrote it", async () => {
    const answer = "```python\nact('x')\n```"
    const { model } = await runWith([answer, "Done."])
    const sent = model.requests[1]?.messages.find(({ role }) => role === "assistant")
    assert.deepEqual(sent?.parts, [{ type: "text", text: answer }])
  })

  test("runs when the model sends it again as it was told", async () => {
    const { calls, result } = await runWith(["```python\nact('x')\n```", "```ts\nact('x')\n```", "Done."])
    assert.deepEqual(calls, ["x"])
    assert.equal(result.output, "Done.")
  })

  test("is final when the model tags it as text, as it was told", async () => {
    const { result } = await runWith(["In Python:\n```python\nx\n```", "In Python:\n```text\nx\n```"])
    assert.equal(result.output, "In Python:\n```text\nx\n```")
  })

  test("is sent back after the calls of the same answer", async () => {
    const made: string[] = []
    const note = tool({ name: "note", description: "notes", run: () => String(made.push("note")) })
    const model = scriptedModel([
      [
        { type: "text", text: "```python\nact('x')\n```\n" },
        { type: "tool-call", id: "1", name: "note", input: {} },
      ],
      "Done.",
    ])
    const result = await createAgent({ model, runtime: jsRuntime({}), tools: [note] }).run("go")
    assert.deepEqual(made, ["note"])
    assert.match(JSON.stringify(result.messages), /Python code was not run/)
  })

  test("means nothing to an agent that only calls tools", async () => {
    const note = tool({ name: "note", description: "notes", run: () => "ok" })
    const model = scriptedModel(["```python\nx\n```"])
    const result = await createAgent({ model, tools: [note], noTool: "answer" }).run("go")
    assert.equal(result.output, "```python\nx\n```")
  })

  test("is left to a hook that changes the answer", async () => {
    const model = scriptedModel(["```python\nx\n```"])
    const hooks = { afterModel: () => ({ parts: [{ type: "text" as const, text: "Changed." }] }) }
    const result = await createAgent({ model, runtime: jsRuntime({}), hooks }).run("go")
    assert.equal(result.output, "Changed.")
  })

  test("is sent back with the agent's own tag in the message", async () => {
    const model = scriptedModel(["```python\nx\n```", "Done."])
    const result = await createAgent({ model, runtime: jsRuntime({}), fence: "cell" }).run("go")
    assert.match(JSON.stringify(result.messages), /in a ```cell block/)
  })
})

describe("an answer that runs", () => {
  for (const answer of [
    "I'll act.\n```\nact('x')\n```\n",
    "```\nact('x')\n```",
    "1. Act:\n    ```tsx\n    act('x')\n    ```\n",
    "Here: ```js\nact('x')\n```\n",
  ]) {
    test(`runs ${JSON.stringify(answer)}`, async () => {
      const { calls } = await runWith([answer, "Done."])
      assert.deepEqual(calls, ["x"])
    })
  }
})
