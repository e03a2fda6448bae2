// The programs of docs/budgets.md, each run as it is shown there.

// #region hook
import { type Hooks, totalTokens } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type CodeAgent, createAgent, fn, jsRuntime, tool, type Usage, variable } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { workIn } from "./surroundings.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/budgets.md", () => {
  describe("limits a run by its", () => {
    async function sortInbox(agent: CodeAgent) {
      // #region limits
      const result = await agent.run("Sort the inbox", {
        limits: {
          cycles: 30, // model requests with the actions that answer them; default 10
          tokens: 200_000, // input and output
          uncachedTokens: 60_000, // the same without input that the provider read from its cache
          costUsd: 0.5, // needs a model whose price is known
          timeMs: 120_000, // active time: waiting for a person does not count
          calls: 100, // of tools, functions and guarded methods
          callsByName: { send_mail: 3, "db.exec": 10 },
          depth: 3, // how deep runs may nest, this one included; default 5
          unknownUsage: "stop", // or "continue", the default
        },
      })
      result.status // "done", or "stopped" by a limit
      result.reason // "cycles" "tokens" "uncached-tokens" "cost" "time" "unknown-usage"
      result.output // the last text the model wrote
      // #endregion
      return result
    }

    /** Writes a cell again and again. */
    const busy = (usage: Usage) => {
      let answers = 0
      const model = scriptedModel(() => `Step ${++answers}.\n${cell("1")}`, { usage, price: { input: 1, output: 10 } })
      return createAgent({ model, runtime: jsRuntime({}) })
    }

    test("cycles", async () => {
      const agent = busy({ input: 10, output: 1, complete: true })
      const { status, reason, cycles, output } = await sortInbox(agent)
      assert.deepEqual([status, reason, cycles], ["stopped", "cycles", 30])
      assert.match(output, /^Step 30\./)
      assert.equal((await agent.run("Sort the inbox")).cycles, 10)
    })

    const usages: Record<string, [usage: Usage, cycles: number]> = {
      tokens: [{ input: 99_999, output: 1, cacheRead: 99_999, complete: true }, 2],
      "uncached-tokens": [{ input: 49_999, output: 1, cacheRead: 20_000, complete: true }, 2],
      cost: [{ input: 0, output: 25_000, complete: true }, 2],
      "unknown-usage": [{ complete: false }, 1],
    }
    for (const [name, [usage, expected]] of Object.entries(usages)) {
      test(name, async () => {
        const { status, reason, cycles } = await sortInbox(busy(usage))
        assert.deepEqual([status, reason, cycles], ["stopped", name, expected])
      })
    }

    test("time", async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout", "Date"] })
      const begun = Promise.withResolvers<void>()
      const model = scriptedModel([cell("begin()\nawait new Promise(() => {})")], {
        usage: { input: 10, output: 1, complete: true },
        price: { input: 1, output: 10 },
      })
      const run = sortInbox(createAgent({ model, runtime: jsRuntime({ begin: begun.resolve }) }))
      await begun.promise
      t.mock.timers.tick(120_000)
      const { status, reason } = await run
      assert.deepEqual([status, reason], ["stopped", "time"])
    })

    test("time, without the time in which it waits for a person", async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout", "Date"] })
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<boolean>()
      const agent = createAgent({
        model: scriptedModel([cell("await wipe()"), "Done."], {
          usage: { input: 10, output: 1, complete: true },
          price: { input: 1, output: 10 },
        }),
        runtime: jsRuntime({ wipe: fn(() => {}, { approve: true }) }),
        approver() {
          asked.resolve()
          return answer.promise
        },
      })
      const run = sortInbox(agent)
      await asked.promise
      t.mock.timers.tick(200_000)
      answer.resolve(true)
      assert.equal((await run).status, "done")
    })

    test("calls, of all kinds and by name", async () => {
      const made = { send_mail: 0, exec: 0, look: 0 }
      const db = { path: "orders.db", exec: () => ++made.exec }
      const send_mail = tool({
        name: "send_mail",
        description: "Sends a mail.",
        input: { type: "object", properties: {} },
        run: () => `${++made.send_mail}`,
      })
      const mail = (id: string) => [{ type: "tool-call" as const, id, name: "send_mail", input: {} }]
      const many = "for (let i = 0; i < 200; i++) await db.exec().catch(() => {})"
      const model = scriptedModel(
        [mail("1"), mail("2"), mail("3"), mail("4"), cell(many), cell("for (;;) await look()"), "Done."],
        { usage: { input: 10, output: 1, complete: true }, price: { input: 1, output: 10 } },
      )
      const runtime = jsRuntime({ db: variable(db, { guard: { exec: {} } }), look: () => ++made.look })
      const result = await sortInbox(createAgent({ model, runtime, tools: [send_mail] }))
      assert.equal(result.status, "done")
      assert.deepEqual(made, { send_mail: 3, exec: 10, look: 100 - 3 - 10 })
    })

    test("depth", async () => {
      const started: number[] = []
      const nested = (level: number): CodeAgent => {
        const begin = () => {
          started.push(level)
          return cell(level === 6 ? "1" : 'await next.run("Go deeper")')
        }
        const model = scriptedModel([begin, "Done."], {
          usage: { input: 10, output: 1, complete: true },
          price: { input: 1, output: 10 },
        })
        return createAgent({ model, runtime: jsRuntime(level === 6 ? {} : { next: nested(level + 1) }) })
      }
      assert.equal((await sortInbox(nested(1))).status, "done")
      assert.deepEqual(started, [1, 2, 3])
      await nested(1).run("Go deeper")
      assert.deepEqual(started.slice(3), [1, 2, 3, 4, 5])
    })
  })

  test("limits the runs of a session together, also those of an earlier process", async (t) => {
    await workIn(t)
    const model = scriptedModel(() => cell("1"), {
      usage: { input: 300_000, output: 0, complete: true },
      contextWindow: 1_000_000,
    })
    const agent = createAgent({ model, runtime: () => jsRuntime({}) })
    async function sendOnce() {
      // #region session
      const budget = { tokens: 500_000, cycles: 200 }
      await using session = await agent.session({ id: "user-42", archive: ".karst", budget })
      const { status, reason, detail } = await session.send("Sort the inbox")
      // "stopped", "tokens", "The budget of the session is used up: tokens."
      // #endregion
      assert.deepEqual([status, reason, detail], ["stopped", "tokens", "The budget of the session is used up: tokens."])
      return session.budgetLeft()
    }
    assert.deepEqual(await sendOnce(), { tokens: 0, cycles: 198 })
    assert.equal(model.requests.length, 2)
    assert.deepEqual(await sendOnce(), { tokens: 0, cycles: 198 })
    assert.equal(model.requests.length, 2, "the model is not asked again")

    await using session = await agent.session({ id: "user-42", archive: ".karst", budget: { tokens: 1_000_000 } })
    assert.deepEqual(session.budgetLeft(), { tokens: 400_000 })
    await session.send("Go on")
    const [asked] = model.requests.slice(2)
    assert.equal(JSON.stringify(asked?.messages).match(/Sort the inbox/g)?.length, 1, "the second prompt is not stored")
  })

  test("has a budget for a session of durable runs, which later runs of the session count against", async () => {
    const usage = { input: 16_000, output: 4_000, complete: true }
    const model = { ...scriptedModel(() => "Sorted.", { usage }), price: { input: 25, output: 100 } }
    const helper = createAgent({ model })
    await using engine = createEngine({ agents: { helper }, store: memoryStore() })
    // #region engine
    await engine.submit("helper", "Sort the inbox", { session: "user-42", budget: { costUsd: 5 } })
    const { budgetLeft } = await engine.queue("helper", "user-42") // { costUsd: 4.2 }, after a run that cost 0.8
    // #endregion
    assert.deepEqual(budgetLeft, { costUsd: 5 })
    const { id } = await engine.submit("helper", "And again", { session: "user-42" })
    await engine.result(id)
    assert.equal((await engine.queue("helper", "user-42")).budgetLeft?.costUsd?.toFixed(2), "3.40")
  })

  test("has a hook that asks the model to finish, and then stops the run", async () => {
    // #region hook
    const thrift: Hooks = {
      beforeModel({ usage }) {
        const used = totalTokens(usage) ?? 0
        if (used > 50_000) return { stop: "Used more than 50,000 tokens." }
        if (used > 40_000) return { note: "You have nearly used up your budget. Finish with what you have." }
      },
    }
    // #endregion
    const usage = { input: 20_000, output: 1_000, complete: true }
    const model = scriptedModel(() => cell("1"), { usage })
    const result = await createAgent({ model, runtime: () => jsRuntime({}), hooks: thrift }).run("Count")
    assert.deepEqual([result.status, result.reason], ["stopped", "hook"])
    assert.equal(result.detail, "Used more than 50,000 tokens.")
    const warned = model.requests.map(({ messages }) => JSON.stringify(messages).includes("nearly used up"))
    assert.deepEqual(warned, [false, false, true])
  })
})
