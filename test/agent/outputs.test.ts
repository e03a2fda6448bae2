// test lane: unit, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, messageText, type Outputs } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import * as z from "zod"
import { tool } from "../../src/tools/tool.ts"
import { requires } from "../system.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``
const report = z.object({ total: z.number(), months: z.array(z.string()) })

describe("declared outputs", () => {
  test("come back as typed objects once the model has filled them", async () => {
    const model = scriptedModel([cell(`const report = { total: 3, months: ["May"] }`), "Done."])
    const result = await createAgent({ model }).run("Add up", { outputs: { report } })
    assert.equal(result.status, "done")
    if (result.status !== "done") return
    const total: number = result.objects.report.total
    const months: string[] = result.objects.report.months
    assert.deepEqual({ total, months }, { total: 3, months: ["May"] })
  })

  test("are told to the model as variables with their types", async () => {
    const model = scriptedModel([cell(`const report = { total: 3, months: [] }`), "Done."])
    await createAgent({ model }).run("Add up", { outputs: { report } })
    const told = model.requests[0]?.messages.map(messageText).join("\n") ?? ""
    assert.match(told, /let report: \{\s*total: number;?\s*months: string\[\]/)
  })

  test("send an answer back that comes too early, saying what is missing and what is wrong", async () => {
    const model = scriptedModel([
      "All done!",
      cell(`const report = { total: "three", months: [] }`),
      "Now it is.",
      cell("report.total = 3"),
      "Really.",
    ])
    const result = await createAgent({ model, runtime: jsRuntime() }).run("Add up", { outputs: { report } })
    const returned = result.messages.filter((message) => message.role === "user" && message.origin === "host")
    const texts = returned.map(messageText)
    assert.match(texts[1] ?? "", /report: is not assigned/)
    assert.match(texts[2] ?? "", /report: total: .*expected number/)
    assert.equal(result.output, "Really.")
    assert.deepEqual(result.objects, { report: { total: 3, months: [] } })
  })

  test("are reported briefly if every record has the same mistake, and the result says what is wrong", async () => {
    const rows = Array.from({ length: 5000 }, (_, at) => ({ amount: String(at) }))
    const model = scriptedModel([cell("const out = rows.map((row) => ({ ...row }))"), ...Array(9).fill("Done.")])
    const agent = createAgent({ model, runtime: jsRuntime({ rows }) })
    const outputs = { out: z.array(z.object({ amount: z.number() })), total: z.number() }
    const result = await agent.run("Convert the amounts.", { outputs }).settled
    assert.equal(result.status, "stopped")
    assert.equal(result.reason, "outputs")
    const problem = "[].amount: Invalid input: expected number, received string (5,000 times)"
    assert.equal(result.detail, `out: ${problem}; total: is not assigned`)
    const reminder = messageText(model.requests.at(-1)?.messages.at(-1) ?? assert.fail())
    assert.ok(reminder.includes(problem))
    assert.ok(reminder.length < 1000, `${reminder.length} characters`)
  })

  test("stop a run that never fills them after three reminders, with what was valid", async () => {
    const model = scriptedModel(() => "I would rather not.")
    const runtime = jsRuntime({ count: 7 })
    const outputs = { report, count: z.number() }
    const result = await createAgent({ model, runtime }).run("Add up", { outputs })
    assert.equal(result.status, "stopped")
    assert.equal(result.reason, "outputs")
    assert.equal(result.cycles, 4)
    const reminders = result.messages.filter((message) => messageText(message).startsWith("(You are not done"))
    assert.equal(reminders.length, 3)
    assert.equal(result.messages.at(-1)?.role, "assistant")
    assert.deepEqual(result.objects, {})
  })

  test("accept plain JSON Schema, and give what a transform makes of the value", async () => {
    const model = scriptedModel([cell(`const size = "12"; const mood = "good"`), "Done."])
    const outputs = { size: z.string().transform(Number), mood: { type: "string" } as const }
    const result = await createAgent({ model }).run("Go", { outputs })
    assert.deepEqual(result.objects, { size: 12, mood: "good" })
  })

  test("belong to one send of a session and not to the next", async () => {
    const model = scriptedModel([cell("const answer = 42"), "There.", "Hello."])
    await using session = await createAgent({ model }).session()
    const first = await session.send("Think", { outputs: { answer: z.number() } })
    assert.deepEqual(first.objects, { answer: 42 })
    const second = await session.send("Hi")
    assert.equal(second.objects, undefined)
    assert.equal(second.output, "Hello.")
  })

  test("refuse a name no variable can have, and what is no schema, where they are written", () => {
    const agent = createAgent({ model: scriptedModel([]) })
    assert.throws(() => agent.run("Go", { outputs: { "my report": report } }), /"my report" cannot be the name/)
    assert.throws(
      () => agent.run("Go", { outputs: { class: report } }),
      /"class" cannot be the name of a variable: it is/,
    )
    // @ts-expect-error A type is no schema.
    assert.throws(() => agent.run("Go", { outputs: { report: "string" } }), /outputs\.report is no schema: it is/)
  })

  test("are refused for an agent that has no variables to fill", () => {
    const look = tool({ name: "look", description: "Looks", input: { type: "object" }, run: async () => "seen" })
    const agent = createAgent({ model: scriptedModel([]), tools: [look] })
    assert.throws(() => agent.run("Go", { outputs: { report } }), /outputs: this agent has tools and no runtime/)
  })

  test("hold for a Python runtime as well", { skip: requires("python") }, async () => {
    await using runtime = pythonRuntime()
    const model = scriptedModel(["```python\nreport = {'total': 3, 'months': ['May']}\n```", "Done."])
    const result = await createAgent({ model, runtime }).run("Add up", { outputs: { report } })
    assert.deepEqual(result.objects, { report: { total: 3, months: ["May"] } })
    const told = model.requests[0]?.messages.map(messageText).join("\n") ?? ""
    assert.match(told, /report {2}# JSON Schema: \{.*"total":\{"type":"number"\}/)
  })
})

const factories = {
  jsRuntime: { make: () => jsRuntime(), language: "ts" as const, skip: false },
  processRuntime: { make: () => processRuntime(), language: "ts" as const, skip: false },
  pythonRuntime: { make: () => pythonRuntime(), language: "python" as const, skip: requires("python") },
}

for (const [name, { make, language, skip }] of Object.entries(factories)) {
  const written = (ts: string, python: string) => `\`\`\`${language}\n${language === "ts" ? ts : python}\n\`\`\``

  /** Returns the reminder that the model got in the second run, and the result of that run. */
  const second = async (answers: string[], outputs: Outputs) => {
    const first = [
      written(
        "let report = { total: 1, months: [] }; let answer = 42",
        "report = {'total': 1, 'months': []}; answer = 42",
      ),
      "There.",
    ]
    const model = scriptedModel([...first, ...answers])
    await using session = await createAgent({ model, runtime: make, limits: { cycles: 20 } }).session()
    await session.send("First")
    const result = await session.send("Second", { outputs })
    const texts = result.messages.filter(({ role }) => role === "user").map(messageText)
    return { result, sentBack: texts.filter((text) => text.includes("You are not done")) }
  }

  describe(`declared outputs of a later run (${name})`, { skip }, () => {
    test("do not count while they have the value of an earlier run", async () => {
      const made = written("report = { total: 2, months: [] }", "report = {'total': 2, 'months': []}")
      const { result, sentBack } = await second(["Done.", made, "Now."], { report })
      assert.equal(sentBack.length, 1)
      assert.match(sentBack[0] ?? "", /report: has the value that it had before this run/)
      assert.deepEqual(result.objects, { report: { total: 2, months: [] } })
    })

    test("count when they are changed in place, or assigned an equal value", async () => {
      const changed = written("report.months.push('May')", "report['months'].append('May')")
      const inPlace = await second([changed, "Done."], { report })
      assert.deepEqual([inPlace.sentBack, inPlace.result.objects], [[], { report: { total: 1, months: ["May"] } }])
      const again = await second([written("answer = 42", "answer = 42"), "Done."], { answer: z.number() })
      assert.deepEqual([again.sentBack, again.result.objects], [[], { answer: 42 }])
    })

    test("do not count because a cell reads them, or assigns them and fails before", async () => {
      const read = written(
        "report.total; if (report.total > 5) answer = 42",
        "report['total']\nif report['total'] > 5: answer = 42",
      )
      const thrown = written("throw 1; answer = 42", "raise Exception('no')\nanswer = 42")
      const { result, sentBack } = await second([read, thrown, "Done.", "Done.", "Done.", "Done."], {
        report,
        answer: z.number(),
      })
      assert.equal(result.reason, "outputs")
      assert.match(sentBack[0] ?? "", /report: has the value[\s\S]*answer: has the value/)
      assert.deepEqual(result.objects, {})
    })

    test('count as they are with stale: "allow"', async () => {
      const { result, sentBack } = await second(["Done."], { report: { schema: report, stale: "allow" } })
      assert.deepEqual([sentBack, result.objects], [[], { report: { total: 1, months: [] } }])
    })
  })
}

describe("declared outputs of a later run", () => {
  test("count when an instance of a class is changed by its methods", async () => {
    const first = cell("class Tally { rows = []; add(row) { this.rows.push(row) } }\nlet tally = new Tally()")
    const model = scriptedModel([first, "There.", "Done.", cell("tally.add(1)"), "Done."])
    await using session = await createAgent({ model }).session()
    await session.send("First")
    const result = await session.send("Second", { outputs: { tally: z.object({ rows: z.array(z.number()) }) } })
    assert.deepEqual([result.cycles, result.objects], [3, { tally: { rows: [1] } }])
  })

  test("start from what `values` gives, which is no work of the run", async () => {
    const model = scriptedModel([cell("let answer = 41"), "There.", "Done.", cell("answer += 0"), "Done."])
    await using session = await createAgent({ model }).session()
    await session.send("First")
    const result = await session.send("Second", { outputs: { answer: z.number() }, values: { answer: 42 } })
    assert.deepEqual([result.cycles, result.objects], [3, { answer: 42 }])
  })

  test("refuse another word for `stale`", () => {
    const agent = createAgent({ model: scriptedModel([]) })
    // @ts-expect-error There is only "allow".
    const outputs: Outputs = { report: { schema: report, stale: "yes" } }
    assert.throws(() => agent.run("Go", { outputs }), /outputs\.report\.stale: "yes" is unknown/)
  })
})

describe("verify", () => {
  const lamp = () => ({ on: false })

  test("judges the state the run left, not its words", async () => {
    const model = scriptedModel([cell("lamp.on = false"), "The lamp is on!"])
    const runtime = jsRuntime({ lamp: lamp() })
    const result = await createAgent({ model, runtime }).run("Light, please", {
      verify: async (objects) => {
        const { on } = (await objects.retrieve("lamp")) as { on: boolean }
        return { pass: on, reason: on ? "lit" : "dark" }
      },
    })
    assert.equal(result.status, "done")
    assert.deepEqual(result.verdict, { pass: false, score: 0, reason: "dark" })
  })

  test("is part of the record of the run", async () => {
    const result = await createAgent({ model: scriptedModel(["Hi."]) }).run("Hi", { verify: () => 0.5 })
    const end = result.trajectory.events.at(-1)
    assert.equal(end?.type, "run-end")
    assert.deepEqual(end?.type === "run-end" && end.verdict, { pass: false, score: 0.5 })
  })

  test("that throws or answers nonsense is a verdict that says so", async () => {
    const agent = createAgent({ model: scriptedModel(() => "Hi.") })
    const thrown = await agent.run("Hi", {
      verify() {
        throw new RangeError("no lamp")
      },
    })
    assert.deepEqual(thrown.verdict, { pass: false, score: 0, reason: "verify threw RangeError: no lamp" })
    const nonsense = await agent.run("Hi", { verify: () => 17 })
    assert.match(nonsense.verdict?.reason ?? "", /A check answered 17/)
  })

  test("is not asked about a run that failed", async () => {
    let asked = 0
    const run = createAgent({ model: scriptedModel([new Error("gone")]) }).run("Hi", {
      verify: () => {
        asked++
        return true
      },
    })
    const result = await run.settled
    assert.equal(result.status, "failed")
    assert.equal(asked, 0)
    assert.equal(result.verdict, undefined)
  })
})
