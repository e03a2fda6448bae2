import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Json, type JsonSchema, tool, toolResult } from "karst"
import { argumentValues, groupCalls, occursIn } from "../../evals/replay/group-calls.ts"
import { type ReplaySetup, replay } from "../../evals/replay/replay.ts"
import { type StyleRecord, styleChecks, styleClaims, styleSections } from "../../evals/replay/style-report.ts"
import type { PrintRules, ReplayCall, ReplayTask, Style, World } from "../../evals/replay/task.ts"
import { firstSentence, trimSchema } from "../../evals/replay/trim-schema.ts"
import { writeCells } from "../../evals/replay/write-program.ts"

const styles: Style[] = ["json-seq", "json-par", "code-full", "code-proj", "code-cap"]

function call(name: string, input: Record<string, Json>, result: Json, more: Partial<ReplayCall> = {}): ReplayCall {
  return { name, input, result: JSON.stringify(result), fails: false, writes: false, ...more }
}

const look = (id: string, result: Json = {}) => call("look", { id }, result)
const put = (id: string) => call("put", { id }, { stored: id }, { writes: true })

describe("which calls are made together", () => {
  test("independent calls are one group", () => {
    assert.deepEqual(groupCalls([look("a1"), look("b2")], ""), [[look("a1"), look("b2")]])
  })

  test("a call waits for the call whose result has its argument", () => {
    const [first, second, third] = [look("a1", { next: "b2" }), look("b2"), look("c3")]
    assert.deepEqual(groupCalls([first, second, third], "Look at a1."), [[first, third], [second]])
  })

  test("an argument that the user said is no reason to wait", () => {
    const calls = [look("a1", { next: "b2" }), look("b2")]
    assert.deepEqual(groupCalls(calls, "Look at a1 and b2."), [calls])
  })

  test("calls that write are alone, in their order", () => {
    const calls = [look("a1"), put("b2"), put("c3"), look("d4")]
    assert.deepEqual(groupCalls(calls, ""), [[calls[0]], [calls[1]], [calls[2]], [calls[3]]])
  })

  test("a value occurs in a text only as a word of its own", () => {
    assert.ok(occursIn("12", '{"price":12}'))
    assert.ok(!occursIn("12", "x123"))
    assert.ok(occursIn('say "hi"', JSON.stringify({ text: 'say "hi"' })))
  })

  test("the numbers of a sum are values of their own", () => {
    assert.deepEqual(argumentValues({ expression: "1.5 + 2.25", note: "" }), ["1.5 + 2.25", "1.5", "2.25"])
  })
})

const print: PrintRules = {
  whole: (name) => `console.log(JSON.stringify(${name}))`,
  projection: (name) => `console.log(${name}.name)`,
}

describe("programs", () => {
  function cells(group: ReplayCall[], projects = false) {
    let names = 0
    const place = () => ({ neededLater: [], isLastOfTurn: false })
    return writeCells(group, { print, projects, place, nextName: () => `r${++names}` })
  }

  test("a call stores its result and prints it", () => {
    const [cell] = cells([call("find", { name: "x", "odd key": [1, true] }, {})])
    assert.equal(
      cell?.code,
      'const r1 = await find({ name: "x", "odd key": [1, true] })\nconsole.log(JSON.stringify(r1))',
    )
  })

  test("calls of the same function become one loop", () => {
    const group = [look("a1"), call("find", {}, {}), look("b2")]
    const [cell, ...more] = cells(group, true)
    assert.equal(more.length, 0)
    assert.equal(
      cell?.code,
      'const r1 = []\nfor (const id of ["a1", "b2"]) {\n  const result = await look({ id })\n  r1.push(result)\n' +
        "  console.log(result.name)\n}\nconst r2 = await find()\nconsole.log(r2.name)",
    )
    assert.equal(cell?.results.get(group[2] ?? look("")), "r1[1]")
  })

  test("a call that throws ends its cell", () => {
    const failing = { ...look("a1"), fails: true }
    assert.deepEqual(
      cells([failing, look("b2")]).map(({ calls }) => calls.length),
      [1, 1],
    )
  })
})

describe("replaying a task", () => {
  const far = "x".repeat(300)
  const task: ReplayTask = {
    id: "t1",
    turns: [
      {
        user: "Which lamp is near a1 and b2? Then store it.",
        calls: [
          look("a1", { name: "A", far, next: "lamp-7" }),
          look("b2", { name: "B" }),
          look("lamp-7", { name: "L" }),
        ],
        answer: "lamp-7. Shall I store it?",
      },
      { user: "Yes.", calls: [put("lamp-7")], answer: "Stored." },
    ],
  }

  function world(results: readonly ReplayCall[] = task.turns.flatMap(({ calls }) => calls)): World {
    const made: World["made"] = []
    const input: JsonSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] }
    const tools = ["look", "put"].map((name) =>
      tool<JsonSchema>({
        ...{ name, description: "Does it.", input },
        run(given) {
          const text = results.find((each) => each.name === name && each.input.id === given.id)?.result ?? "{}"
          made.push({ name, input: given, result: text })
          return toolResult({ text, value: JSON.parse(text) })
        },
      }),
    )
    const bindings = Object.fromEntries(tools.map((each) => [each.name, each]))
    return { tools, bindings, made, problem: () => undefined }
  }

  const setup: ReplaySetup = { instructions: "Help.", print, world, capChars: 200 }

  test("reaches the expected end in every style, with fewer model calls if calls are made together", async () => {
    const records = []
    for (const style of styles) records.push(await replay(task, style, setup))
    assert.deepEqual(
      records.map(({ verified, problem }) => problem ?? verified),
      styles.map(() => true),
    )
    const [sequential, parallel] = records
    assert.deepEqual([sequential?.modelCalls, parallel?.modelCalls], [6, 5])
  })

  test("pays for printing a result again if the projection left out what a call needs", async () => {
    const { verified, rereads, modelCalls } = await replay(task, "code-proj", setup)
    assert.deepEqual({ verified, rereads, modelCalls }, { verified: true, rereads: 1, modelCalls: 6 })
  })

  test("pays for what its answer says, too: a value of a later call, or a fact that it must state", async () => {
    const confirmed: ReplayTask = {
      id: "t2",
      turns: [
        {
          user: "Store the lamp near a1.",
          calls: [look("a1", { name: "A", next: "lamp-7" })],
          answer: "Store lamp-7?",
        },
        { user: "Yes.", calls: [put("lamp-7")], answer: "Stored." },
      ],
    }
    const stated: ReplayTask = {
      id: "t3",
      turns: [{ user: "Look at a1.", calls: [look("a1", { name: "A", watts: 60 })], answer: "60 W", mentions: ["60"] }],
    }
    for (const each of [confirmed, stated]) {
      const calls = each.turns.flatMap((turn) => turn.calls)
      const record = await replay(each, "code-proj", { ...setup, world: () => world(calls) })
      assert.deepEqual([record.problem, record.rereads], [undefined, 1], each.id)
    }
  })

  test("pays for reading the rest of an output that was cut", async () => {
    const middle: ReplayTask = structuredClone(task)
    const first = middle.turns[0]?.calls[0]
    if (first) first.result = JSON.stringify({ name: "A", far, next: "lamp-7", more: far })
    const calls = middle.turns.flatMap(({ calls }) => calls)
    const record = await replay(middle, "code-cap", { ...setup, world: () => world(calls) })
    assert.equal(record.problem, undefined)
    assert.ok(record.rereads > 0)
  })

  test("does not verify a task if a result differs from the expected one", async () => {
    const wrong = task.turns.flatMap(({ calls }) => calls).map((each) => ({ ...each, result: '{"name":"other"}' }))
    for (const style of ["json-seq", "code-full"] as const) {
      const record = await replay(task, style, { ...setup, world: () => world(wrong) })
      assert.equal(record.verified, false)
      assert.match(String(record.problem), /not made as expected: look/)
    }
  })

  test("does not verify a task if its end state is wrong", async () => {
    const record = await replay(task, "json-par", {
      ...setup,
      world: () => ({ ...world(), problem: () => "wrong lamp" }),
    })
    assert.deepEqual([record.verified, record.problem], [false, "wrong lamp"])
  })

  test("the tables show both kinds of tool calls beside code, and short tasks", async () => {
    const records: StyleRecord[] = []
    for (const style of styles) records.push(await replay(task, style, setup))
    const sections = styleSections(records, [{ name: "1–4", from: 1, to: 4 }])
    const [together, compared, , byLength] = sections.map(({ table }) => table)
    assert.deepEqual(
      together?.rows.map(([style, verified]) => [style, verified]),
      styles.map((style) => [style, 1]),
    )
    assert.ok(compared?.rows.some(([style, base]) => style === "code-proj" && base === "json-par"))
    assert.deepEqual(byLength?.rows[0]?.slice(0, 2), ["1–4", 1])
    assert.deepEqual(
      styleChecks(records).map(({ passed, of }) => [passed, of]),
      styles.map(() => [1, 1]),
    )
    const by = (style: Style) => records.find((record) => record.style === style)?.total ?? NaN
    assert.equal(styleClaims(records, "json-seq").total, by("code-proj") / by("json-seq") - 1)
  })
})

describe("shortening declarations", () => {
  test("a description keeps its first sentence", () => {
    assert.equal(firstSentence("Cancel a pending order. If it is\n\nprocessed, no."), "Cancel a pending order.")
    assert.equal(firstSentence("No full stop"), "No full stop")
  })

  test("a schema keeps its types and which members are required", () => {
    const schema = {
      type: "dict",
      title: "x",
      properties: {
        amount: { type: "float", description: "How much." },
        tags: { type: "array", items: { type: "string", description: "A tag." } },
      },
      required: ["amount"],
    }
    assert.deepEqual(trimSchema(schema), {
      type: "object",
      properties: { amount: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
      required: ["amount"],
    })
  })
})
