import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import type { Model, ModelPart } from "../../src/models/model.ts"
import { withRetry } from "../../src/models/retry.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { withTimeouts } from "../../src/models/timeouts.ts"
import { fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
const usage = { input: 10, output: 5, complete: true }

function wiper() {
  const wiped: string[] = []
  return { wiped, runtime: jsRuntime({ wipe: fn((what: string) => wiped.push(what), { approve: true }) }) }
}

describe("every run begins with run-start and ends with one run-end", () => {
  const endings: [string, () => ReturnType<ReturnType<typeof createAgent>["run"]>][] = [
    ["when it is done", () => createAgent({ model: scriptedModel(["ok"]) }).run("go")],
    [
      "when it is stopped",
      () => createAgent({ model: scriptedModel(() => cell("1")), limits: { cycles: 1 } }).run("go"),
    ],
    [
      "when it is aborted",
      () => createAgent({ model: scriptedModel(["ok"]) }).run("go", { signal: AbortSignal.abort() }),
    ],
    ["when the model fails", () => createAgent({ model: scriptedModel([new Error("down")]) }).run("go")],
    [
      "when a prompt section throws",
      () => createAgent({ model: scriptedModel(["ok"]), prompt: { rules: boom } }).run("go"),
    ],
    ["when the runtime cannot be made", () => createAgent({ model: scriptedModel(["ok"]), runtime: boom }).run("go")],
  ]
  for (const [when, start] of endings) {
    test(when, async () => {
      const events = await Array.fromAsync(start())
      assert.equal(events[0]?.type, "run-start")
      assert.deepEqual(events.filter((event) => event.type === "run-end").length, 1)
      assert.equal(events.at(-1)?.type, "run-end")
    })
  }

  function boom(): never {
    throw new Error("boom")
  }
})

describe("approval fails closed", () => {
  test("for an answer that is no decision", async () => {
    const { wiped, runtime } = wiper()
    const approve = () => "sure" as "allow"
    await createAgent({ model: scriptedModel([cell('await wipe("disk")'), "ok"]), runtime, approver: approve }).run(
      "go",
    )
    assert.deepEqual(wiped, [])
  })

  test("for an answerer that throws, and says that it was resolved", async () => {
    const { wiped, runtime } = wiper()
    const approve = () => {
      throw new Error("no line")
    }
    const model = scriptedModel([cell('await wipe("disk")'), "ok"])
    const { trajectory } = await createAgent({ model, runtime, approver: approve }).run("go")
    assert.deepEqual(wiped, [])
    const resolved = trajectory.events.find((event) => event.type === "approval-resolved")
    assert.equal(resolved?.decision, "deny")
  })

  test("for a decision that run.approve does not know", async () => {
    const { runtime } = wiper()
    const run = createAgent({
      model: scriptedModel([cell('await wipe("disk")'), "ok"]),
      runtime,
      approver: "events",
    }).run("go")
    for await (const event of run) {
      if (event.type !== "approval-requested") continue
      assert.throws(() => run.approve(event.id, "yes" as "allow"), ConfigError)
      run.approve(event.id, "deny")
    }
  })

  test("with an error that shows the cell's line and none of our frames", async () => {
    const { runtime } = wiper()
    const model = scriptedModel([cell('1\nawait wipe("disk")'), "ok"])
    const { trajectory } = await createAgent({ model, runtime }).run("go")
    const end = trajectory.events.find((event) => event.type === "code-end")
    assert.doesNotMatch(end?.text ?? "", /approve\.ts|actions/)
  })
})

describe("options of one send", () => {
  test("hold for that send alone", async () => {
    const model = scriptedModel(["```run\n1\n```", "one", cell("2"), "two"])
    await using session = await createAgent({ model, instructions: "Be plain." }).session()
    await session.send("a", { fence: "run", instructions: "Be a pirate." })
    const second = await session.send("b")
    assert.match(model.requests[0]?.system ?? "", /pirate[\s\S]*```run/)
    assert.match(model.requests[2]?.system ?? "", /Be plain[\s\S]*```ts/)
    assert.equal(second.output, "two")
  })

  test("that belong to the session are refused, not ignored", async () => {
    await using session = await createAgent({ model: scriptedModel([]) }).session()
    assert.throws(() => session.send("x", { runtime: jsRuntime() }), /belongs to the session/)
    assert.throws(() => session.send("x", { messages: [] }), ConfigError)
  })
})

describe("nothing is lost", () => {
  test("of what is said in the last cycle of a stopped run: the next send hears it", async () => {
    const model = scriptedModel([
      () => {
        run.steer("and be quick")
        return cell("1")
      },
      "ok",
    ])
    await using session = await createAgent({ model }).session()
    const run = session.send("a", { limits: { cycles: 1 } })
    await run
    await session.send("b")
    assert.match(JSON.stringify(model.requests[1]?.messages), /and be quick/)
  })

  test("of a block that was complete when the limit came, though its last line had no end", async () => {
    const ran: string[] = []
    const runtime = jsRuntime({ note: fn((what: string) => void ran.push(what), { sync: true }) })
    const parts: ModelPart[] = [
      { type: "text", text: '```ts\nnote("once")\n```' },
      { type: "finish", reason: "length", usage },
    ]
    await createAgent({ model: scriptedModel([parts, "Done."]), runtime }).run("go")
    assert.deepEqual(ran, ["once"])
  })

  test("of a value too large to show: it is kept under a name, whole", async () => {
    const runtime = jsRuntime()
    const model = scriptedModel([cell("Array.from({ length: 5000 }, (_, i) => i)"), "ok"])
    const { trajectory } = await createAgent({ model, runtime }).run("go")
    const end = trajectory.events.find((event) => event.type === "code-end")
    assert.match(end?.text ?? "", /\[\n {2}0, 1, 2[\s\S]*… 5,000 items\n\]\n… shortened; whole value in _output_1/)
    assert.equal(((await runtime.retrieve("_output_1")) as number[]).length, 5000)
  })

  test("of an error too long to show: it is kept as text, and shown in part", async () => {
    const runtime = jsRuntime()
    const model = scriptedModel([cell('throw new Error("x".repeat(3000))'), "ok"])
    const { trajectory } = await createAgent({ model, runtime, maxOutputChars: 200 }).run("go")
    const end = trajectory.events.find((event) => event.type === "code-end")
    assert.ok((end?.text.length ?? 0) < 500)
    assert.ok(String(await runtime.retrieve(end?.kept ?? "")).includes("x".repeat(3000)))
  })

  test("by giving a kept name a second meaning when a conversation goes on in a fresh runtime", async () => {
    const big = cell('console.log("a".repeat(300))')
    const agent = createAgent({ model: scriptedModel([big, "ok", big, "ok"]), maxOutputChars: 100 })
    const first = await agent.run("one")
    const second = await agent.run("two", { from: JSON.parse(JSON.stringify(first)) })
    const names = second.messages.flatMap(
      (message) => JSON.stringify(message).match(/variable (_output_\d+)/)?.[1] ?? [],
    )
    assert.equal(new Set(names).size, 2)
  })
})

describe("observers", () => {
  test("that reject become one warning, which is in the record", async () => {
    const onEvent = async () => {
      throw new Error("async trouble")
    }
    const run = createAgent({ model: scriptedModel([cell("await null"), "ok"]), onEvent }).run("go")
    await run
    await new Promise((resolve) => setImmediate(resolve))
    const warnings = (await Array.fromAsync(run)).filter((event) => event.type === "warning-raised")
    assert.equal(warnings.length, 1)
  })

  test("that throw leave a record without gaps", async () => {
    const onEvent = () => {
      throw new Error("trouble")
    }
    const { trajectory } = await createAgent({ model: scriptedModel(["ok"]), onEvent }).run("go")
    assert.ok(trajectory.events.some((event) => event.type === "warning-raised" && event.code === "observer"))
  })
})

describe("a queued send", () => {
  test("that is aborted ends at once, while the one before it still works", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<string>()
    await using session = await createAgent({ model: scriptedModel([() => gate]) }).session()
    const first = session.send("first")
    const second = session.send("second")
    second.abort()
    assert.equal((await second.settled).status, "aborted")
    open("done")
    assert.equal((await first).output, "done")
  })
})

describe("misuse is told where it happens", () => {
  const model = scriptedModel([])
  const cases: [string, () => unknown][] = [
    ["a runtime that is none", () => createAgent({ model, runtime: { light: 1 } as never })],
    ["a limit that does not exist", () => createAgent({ model, limits: { cycle: 1 } as never })],
    ["a prompt that is none", () => createAgent({ model }).run(undefined as never)],
    ["a model that is none", () => createAgent({ model: 42 as never })],
  ]
  for (const [what, use] of cases) test(what, () => assert.throws(use, ConfigError))
})

describe("the model's service", () => {
  test("that is tried again is told as a warning", async () => {
    const down = new ModelError("overloaded", { code: "overloaded", retryable: true })
    const model = withRetry(scriptedModel([down, "up"]), { sleep: async () => {} })
    const { trajectory, output } = await createAgent({ model }).run("go")
    assert.equal(output, "up")
    assert.ok(trajectory.events.some((event) => event.type === "warning-raised" && event.code === "model-retried"))
  })

  test("that breaks off with an error fails the run, with its text kept", async () => {
    const parts: ModelPart[] = [
      { type: "text", text: "Half" },
      { type: "finish", reason: "error", usage },
    ]
    const result = await createAgent({ model: scriptedModel([parts]) }).run("go").settled
    assert.equal(result.status, "failed")
    assert.equal(result.output, "Half")
  })

  test("that stalls fails the run instead of holding it for ever", async () => {
    const silent: Model = {
      id: "silent/model",
      stream: () => scriptedModel([() => new Promise<string>(() => {})]).stream({ system: "", messages: [] }),
    }
    const model = withTimeouts(silent, { connectMs: 5, firstPartMs: 5, idleMs: 5 })
    const result = await createAgent({ model }).run("go").settled
    assert.equal(result.status, "failed")
    assert.ok(["timeout", "stalled"].includes(result.error?.code ?? ""))
  })

  test("has its reasoning counted and kept, and a refusal taken as an answer", async () => {
    const parts: ModelPart[] = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "I cannot help with that." },
      { type: "finish", reason: "stop", usage: { ...usage, reasoning: 3 } },
    ]
    const result = await createAgent({ model: scriptedModel([parts]) }).run("go")
    assert.equal(result.output, "I cannot help with that.")
    assert.equal(result.usage.reasoning, 3)
    assert.deepEqual(result.messages[1]?.parts[0], { type: "reasoning", text: "hm" })
  })
})

describe("tasks that need several turns, scripted", () => {
  test("sort and sum into variables that were declared for them", async () => {
    const runtime = jsRuntime({ numbers: [5, 3, 8], sorted: [] as number[], total: 0 })
    const code = cell("sorted.push(...numbers.toSorted((a, b) => a - b))\ntotal = numbers.reduce((a, b) => a + b)")
    await createAgent({ model: scriptedModel([code, "ok"]), runtime }).run("Sort and sum")
    assert.deepEqual(await runtime.retrieve("sorted"), [3, 5, 8])
    assert.equal(await runtime.retrieve("total"), 16)
  })

  test("use one analyser over three turns of a session", async () => {
    class Analyser {
      rows: number[] = []
      load(rows: number[]) {
        this.rows = rows
      }
      mean() {
        return this.rows.reduce((a, b) => a + b, 0) / this.rows.length
      }
    }
    const analyser = new Analyser()
    const model = scriptedModel([
      cell("analyser.load([10, 20, 60])"),
      "loaded",
      cell("analyser.mean()"),
      "30",
      cell("analyser.rows.push(10)\nanalyser.mean()"),
      "25",
    ])
    await using session = await createAgent({ model, runtime: jsRuntime({ analyser }) }).session()
    for (const prompt of ["load", "mean?", "add 10"]) await session.send(prompt)
    assert.equal(analyser.mean(), 25)
  })
})

describe("events", () => {
  test("of a cell that calls for approval after it ended reach who watches", async () => {
    const { wiped, runtime } = wiper()
    const model = scriptedModel([
      cell('setTimeout(() => wipe("late"), 1)\n1'),
      cell("while (!wiped.length) await new Promise((resolve) => setTimeout(resolve, 1))"),
      "ok",
    ])
    await runtime.inject({ wiped: variable(wiped) })
    const run = createAgent({ model, runtime, approver: "events" }).run("go")
    const seen: AgentEvent["type"][] = []
    for await (const event of run) {
      seen.push(event.type)
      if (event.type === "approval-requested") run.approve(event.id, "allow")
    }
    assert.ok(seen.includes("approval-requested"))
    assert.deepEqual(wiped, ["late"])
  })
})

describe("a runtime's warnings", () => {
  test("are told once, when its first run begins", async () => {
    const runtime = Object.assign(jsRuntime(), { warnings: ["less isolation than was asked for"] })
    await using session = await createAgent({ model: scriptedModel(["a", "b"]), runtime }).session()
    await session.send("one")
    await session.send("two")
    const warnings = session.trajectory().events.filter((event) => event.type === "warning-raised")
    assert.deepEqual(
      warnings.map((event) => event.message),
      ["less isolation than was asked for"],
    )
  })
})
