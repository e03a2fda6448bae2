// The programs of docs/approvals.md, each run as it is shown there.

// #region signal
import { currentCall } from "karst"
// #endregion

// #region options
import { createAgent, fn, jsRuntime, variable } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Approver } from "karst"
import { scriptedModel } from "karst/models"
import { cellValue } from "../runtime/cell-results.ts"
import { withEnoughTime } from "../waiting.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/approvals.md", () => {
  test("asks before the calls that need approval, and limits the others", async (t) => {
    const sending = Promise.withResolvers<void>()
    const asked: string[] = []
    const made: string[] = []
    const wipe = (folder: string) => made.push(`wipe ${folder}`)
    const pay = (order: number, euros: number) => made.push(`pay ${order} ${euros}`)
    const mail = async (to: string) => {
      made.push(`mail ${to}`)
      if (to !== "nobody") return
      sending.resolve()
      await new Promise(() => {})
    }
    class Database {
      exec(sql: string) {
        made.push(sql)
      }
      query(sql: string) {
        return sql
      }
    }
    const db = new Database()
    const askSomebody: Approver = async ({ binding, method, args }, signal) => {
      asked.push([binding, ...(method ? [method] : []), ...args].join(" "))
      return !signal.aborted
    }
    const model = scriptedModel([
      cell(`await wipe("logs")
        await pay(1, 50)
        for (const euros of [500, NaN, "5", -5]) await pay(2, euros)
        await db.exec("delete from orders")`),
      cell(`for (const to of "abcde") await mail(to)
        const tooMany = await mail("f").catch((error) => error.name)`),
      cell(`for (let i = 0; i < 50; i++) await db.query("select 1")
        const tooManyQueries = await db.query("select 1").catch((error) => error.name)`),
      "Done.",
    ])
    // #region options
    const runtime = jsRuntime({
      wipe: fn(wipe, { approve: true }), // asks before every call
      // asks before some calls
      pay: fn(pay, { approve: ({ args: [, euros] }) => !(typeof euros === "number" && euros > 0 && euros <= 100) }),
      mail: fn(mail, { maxCalls: 5, timeoutMs: 10_000 }), // at most 5 calls per run, 10 s per call
      db: variable(db, { guard: { exec: { approve: true }, query: { maxCalls: 50 } } }), // methods of an object
    })
    const agent = createAgent({ model, runtime, approver: (call, signal) => askSomebody(call, signal) })
    // #endregion
    const result = await agent.run("Clean up")
    assert.equal(result.status, "done")
    const payments = ["pay 2 500", "pay 2 NaN", "pay 2 5", "pay 2 -5"]
    assert.deepEqual(asked, ["wipe logs", ...payments, "db exec delete from orders"])
    const letters = ["a", "b", "c", "d", "e"].map((to) => `mail ${to}`)
    assert.deepEqual(made, ["wipe logs", "pay 1 50", ...payments, "delete from orders", ...letters])
    t.mock.timers.enable({ apis: ["setTimeout"] })
    const run = agent.with({ model: scriptedModel([cell('await mail("nobody")'), "Done."]) }).run("Write to nobody")
    await sending.promise
    t.mock.timers.tick(10_000)
    assert.match(JSON.stringify((await run).trajectory.events), /TimeoutError/)
    for (const name of ["tooMany", "tooManyQueries"]) assert.equal(await cellValue(runtime, name), "CallLimitReached")
  })

  test("reserves in the call itself, so that calls at the same time stay within the sum", async () => {
    const paid: number[] = []
    const pay = async (_order: number, euros: number) => void paid.push(euros)
    // #region reserve
    let refunded = 0
    async function refund(order: number, euros: number): Promise<void> {
      const fits = typeof euros === "number" && euros > 0 && refunded + euros <= 100
      if (!fits) throw new Error("More than 100 € in total: ask a colleague.")
      refunded += euros // before the first await
      await pay(order, euros)
    }
    // #endregion
    const outcomes = await cellValue(
      jsRuntime({ refund }),
      `const all = await Promise.allSettled([60, 60, "1e-9", "100", NaN, -500, 40].map((euros) => refund(1, euros)))
      all.map(({ status }) => status).join(" ")`,
    )
    assert.equal(outcomes, "fulfilled rejected rejected rejected rejected rejected fulfilled")
    assert.deepEqual(paid, [60, 40])
  })

  test("answers the requests that the events contain", async () => {
    const wiped: string[] = []
    const asked: unknown[] = []
    const decisions = ["allow", "deny", "always"] as const
    const ask = async ({ args }: { args: unknown }) => decisions[asked.push(args) - 1] ?? "deny"
    const runtime = jsRuntime({ wipe: fn((folder: string) => wiped.push(folder), { approve: true }) })
    const agent = createAgent({
      model: scriptedModel([
        cell(`await wipe("a")
          const refused = await wipe("b").catch((error) => error.name)
          await wipe("c")
          await wipe("d")`),
        "Done.",
      ]),
      runtime,
    })
    // #region events
    const run = agent.run("Clean up", { approver: "events" })
    for await (const event of run) {
      // ask() returns "allow", "deny" or "always".
      if (event.type === "approval-requested") run.approve(event.id, await ask(event.call))
    }
    // #endregion
    assert.equal((await run).status, "done")
    assert.equal(asked.length, 3)
    assert.deepEqual(wiped, ["a", "c", "d"])
    assert.equal(await cellValue(runtime, "refused"), "ApprovalDenied")
  })

  test("informs a function about its time-out, a time-out of its cell and an abort", async () => {
    const reasons: string[] = []
    let begun = Promise.withResolvers<void>()
    // Answers only when its signal fires.
    const fetch = (_url: string, { signal }: { signal: AbortSignal | null }) =>
      new Promise<Response>((_, reject) => {
        begun.resolve()
        signal?.addEventListener("abort", () => {
          reasons.push(signal.reason.name)
          reject(signal.reason)
        })
      })
    // #region signal
    const download = async (url: string) => fetch(url, { signal: currentCall()?.signal ?? null })
    // #endregion
    assert.equal(currentCall(), undefined)
    const code = 'await download("http://localhost/large").catch((error) => finish(error.name))'
    const agentWith = (timeoutMs?: number, cellTimeoutMs?: number) =>
      createAgent({
        model: scriptedModel([cell(code), "The cell ended."]),
        runtime: jsRuntime({ download: fn(download, { timeoutMs }) }),
        cellTimeoutMs,
      })
    assert.equal((await agentWith(10).run("Download it")).output, "TimeoutError")
    await withEnoughTime(
      async (ms) => await agentWith(undefined, ms).run("Download it"),
      () => reasons.length === 2,
    )
    begun = Promise.withResolvers()
    const run = agentWith().run("Download it")
    await begun.promise
    run.abort()
    assert.equal((await run.settled).status, "aborted")
    assert.deepEqual(reasons, ["TimeoutError", "CellStopped", "CellStopped"])
  })
})
