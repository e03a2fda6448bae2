// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime } from "karst"
import { compare, drift, expectedType } from "../../evals/drift.ts"
import { handoff } from "../../evals/handoff.ts"
import type { SuiteSetup } from "../../evals/harness/suite.ts"
import { conversationOf, countCalls, type RecordedMessage } from "../../evals/merge/count.ts"
import { requires } from "../system.ts"

const setup: SuiteSetup = {
  data: "",
  mode: { type: "oracle" },
  progress: () => {},
  signal: new AbortController().signal,
}

describe("the suite handoff", () => {
  test("finds what each way of passing an object on keeps", async () => {
    const { checks, tasks } = await handoff.run(setup)
    assert.deepEqual(
      checks.map(({ passed, of }) => [passed, of]),
      [
        [5, 5],
        [3, 3],
      ],
    )
    const intact = new Map(tasks.map(({ style, intact: names }) => [style, names]))
    assert.equal(intact.get("by JSON text"), "nested records")
    assert.doesNotMatch(String(intact.get("by clone")), /class instance/)
  })
})

describe("the suite drift", () => {
  test("finds no error in 25 turns on both runtimes", { skip: requires("python", "pandas") }, async () => {
    const { checks } = await drift.run(setup)
    assert.deepEqual(
      checks.map(({ passed, of, failures }) => [passed, of, failures]),
      [
        [25, 25, []],
        [25, 25, []],
      ],
    )
  })

  test("reports a variable that is missing, additional, of another type or of another value", async () => {
    await using runtime = jsRuntime()
    await runtime.execute("const a = 1; const b = '2'; const c = 3; const more = 4")
    const { compared, problems } = await compare(runtime, "typescript", { a: 1, b: 2, c: 4, d: 5 })
    assert.equal(compared, 4)
    assert.deepEqual(problems, [
      "b is a string instead of a number",
      "b has another value",
      "c has another value",
      "d is missing",
      "more should not be there",
    ])
  })

  test("names types as the runtimes do", () => {
    assert.equal(expectedType("a", [{ x: 1, y: "b" }], "typescript"), "{ x: number; y: string }[]")
    assert.equal(expectedType("a", [{ x: 1, y: 1.5 }], "python"), "list[dict[str, int | float]]")
    assert.equal(expectedType("a_df", [], "python"), "pandas.DataFrame")
  })
})

describe("merged tool calls", () => {
  test("calls that a model made together are one model call, also if one of them is not JSON", () => {
    const made = ['{"id":"W1"}', "not JSON"].map((input, index) => ({
      id: String(index),
      function: { name: "get_order", arguments: input },
    }))
    const together = conversationOf({
      task_id: 1,
      trial: 0,
      traj: [
        { role: "user", content: "Hello." },
        { role: "assistant", content: null, tool_calls: made },
        { role: "tool", content: "{}" },
        { role: "tool", content: "Error: no such order" },
        { role: "assistant", content: "Done." },
      ],
    })
    assert.deepEqual([together.calls, together.answered], [2, 2])
    assert.equal(countCalls(together, "as recorded").modelCalls, 2)
  })

  const call = (name: string, input: object): RecordedMessage => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", function: { name, arguments: JSON.stringify(input) } }],
  })
  const result = (content: string): RecordedMessage => ({ role: "tool", content })
  const conversation = conversationOf({
    task_id: 1,
    trial: 0,
    traj: [
      { role: "system", content: "Help." },
      { role: "user", content: "Orders W1 and W2, please." },
      call("get_order", { id: "W1" }),
      result('{"user": "ada_1"}'),
      call("get_order", { id: "W2" }),
      result("{}"),
      call("get_user", { id: "ada_1" }),
      result("{}"),
      { role: "assistant", content: "Done." },
    ],
  })

  test("count each answer with everything before it as its prompt", () => {
    const recorded = countCalls(conversation, "as recorded")
    const independent = countCalls(conversation, "independent calls")
    const all = countCalls(conversation, "all consecutive calls")
    assert.deepEqual([recorded.modelCalls, independent.modelCalls, all.modelCalls], [4, 3, 2])
    assert.ok(recorded.prompt > independent.prompt && independent.prompt > all.prompt)
    assert.deepEqual([conversation.calls, conversation.answered], [3, 3])
  })
})
