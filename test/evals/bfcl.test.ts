import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { parsePythonCall } from "../../evals/bfcl/python-call.ts"
import { reads } from "../../evals/bfcl/tasks.ts"
import { bfcl } from "../../evals/bfcl.ts"

describe("calls that are written in Python", () => {
  test("have positional and named arguments of every literal kind", () => {
    assert.deepEqual(parsePythonCall("f('a', 2, x=[1.5, -3], y={'k': None}, z=True, s=\"it's\", t=(1, 2))"), {
      name: "f",
      positional: ["a", 2],
      named: { x: [1.5, -3], y: { k: null }, z: true, s: "it's", t: [1, 2] },
    })
  })

  test("have strings with escapes, and strings next to each other", () => {
    assert.deepEqual(parsePythonCall("f(a='it\\'s\\n\\u00e9' 'b', )").named, { a: "it's\néb" })
  })

  test("are refused with the place if an argument is no literal", () => {
    assert.throws(
      () => parsePythonCall("f(x=g(1))"),
      /Not a call with literal arguments, at character 5: f\(x=g\(1\)\)/,
    )
    assert.throws(() => parsePythonCall("f(1) + 2"), /at character 5/)
  })
})

test("functions that look something up are reads, and all others writes", () => {
  assert.deepEqual(["get_stock_info", "ls", "displayCarStatus", "find", "mean"].filter(reads).length, 5)
  assert.deepEqual(["cd", "place_order", "getaway", "startEngine", "post_tweet"].filter(reads), [])
})

describe("the suite bfcl", () => {
  let data: string

  before(async () => {
    data = await mkdtemp(join(tmpdir(), "karst-bfcl-"))
    const folder = join(data, "bfcl-multi-turn")
    await mkdir(folder)
    const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value))
    const parameters = { type: "dict", properties: { folder: { type: "string" } }, required: ["folder"] }
    const response = { type: "dict", properties: { id: { type: "integer" } } }
    await write("func_doc.json", {
      gorilla_file_system: [
        { name: "mkdir", description: "This tool belongs to x. Tool description: Make it. Now.", parameters, response },
        { name: "ls", description: "List.", parameters: { type: "dict", properties: {}, required: [] }, response },
        { name: "rm", description: "Removes.", parameters, response },
      ],
    })
    const services = { involved_classes: ["GorillaFileSystem"], excluded_function: ["rm"] }
    const question = [[{ role: "user", content: "Make docs, list it." }], [{ role: "user", content: "Again." }]]
    await write("tiny.json", [
      { id: "t1", question, ...services },
      { id: "t2", question, ...services },
    ])
    await write("tiny.recorded_results.json", [
      {
        id: "t1",
        turns: [
          [
            { call: "mkdir('docs')", result: '{"id": 4711}' },
            { call: "ls()", result: '{"names": ["docs"]}' },
          ],
          [{ call: "ls()", result: '{"names": ["docs", "more"]}' }],
        ],
      },
      { id: "t2", turns: [[{ call: "mkdir(name)", result: "null" }]] },
    ])
  })

  after(() => rm(data, { recursive: true }))

  test("replays the recorded calls in five styles and verifies each", async () => {
    const { signal } = new AbortController()
    const report = await bfcl.run({ data, mode: { type: "oracle" }, progress() {}, signal })
    assert.deepEqual(
      report.checks.map(({ passed, of }) => [passed, of]),
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
      ],
    )
    assert.match(report.skipped?.find(({ what }) => what === "t2")?.why ?? "", /Not a call with literal arguments/)
    assert.deepEqual(
      report.tasks.map(({ style, modelCalls }) => [style, modelCalls]),
      ["json-seq", "json-par", "code-full", "code-proj", "code-cap"].map((style) => [style, 5]),
    )
  })
})
