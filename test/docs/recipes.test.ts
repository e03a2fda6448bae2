// The programs of docs/recipes.md, each run as it is shown there. test/docs/recipes-clis.test.ts has the one for CLIs.

// #region ask
import { fn } from "karst"
import { display } from "karst/display"
// #endregion

// #region nightly
import { createEngine } from "karst/engine"
import { sqliteStore } from "karst/stores"
// #endregion

// #region list
import { variable } from "karst"
// #endregion

// #region stream
import { createServer } from "node:http"
import { toNode } from "karst/server"
// #endregion

import assert from "node:assert/strict"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { get } from "node:http"
import type { AddressInfo } from "node:net"
import { PassThrough } from "node:stream"
import { describe, test } from "node:test"
// #region csv
import { createAgent, jsRuntime, readRows } from "karst"
// #endregion
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { until } from "../waiting.ts"
import { workIn } from "./surroundings.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("the recipe", () => {
  test("for a CSV file reads its rows, and those of the other formats", async (t) => {
    await workIn(t)
    await writeFile("sales.csv", "month,amount\nMay,40\nJune,25\n")
    const model = scriptedModel([cell("finish(sales.toSorted((a, b) => b.amount - a.amount)[0].month)")])
    // #region csv
    const sales = await readRows("sales.csv") // also .tsv, .json, .jsonl
    const analyst = createAgent({ model, runtime: jsRuntime({ sales }) })
    // #endregion
    assert.equal((await analyst.run("Which month had the highest sales?")).output, "May")
    await writeFile("sales.tsv", "month\tamount\nMay\t40\nJune\t25\n")
    await writeFile("sales.json", JSON.stringify(sales))
    await writeFile("sales.jsonl", sales.map((row) => JSON.stringify(row)).join("\n"))
    for (const file of ["sales.tsv", "sales.json", "sales.jsonl"]) assert.deepEqual(await readRows(file), sales)
  })

  test("for a question to a person asks before large payments only, one at a time", async (t) => {
    const paid: unknown[] = []
    const pay = (to: string, amount: number) => void paid.push([to, amount])
    const model = scriptedModel([
      cell("await Promise.allSettled([pay('Ada', 100), pay('Bob', 101), pay('Eve', 2000), pay('Kim', NaN)])"),
      "Paid Ada and Bob.",
    ])
    const [typed, screen] = [Object.assign(new PassThrough(), { isTTY: true }), new PassThrough()]
    const answers = ["y\n", "n\n", "n\n"]
    let shown = ""
    screen.setEncoding("utf8").on("data", (text: string) => {
      shown += text
      if (text.includes("Allow it?")) setImmediate(() => typed.write(answers.shift() ?? ""))
    })
    t.mock.getter(process, "stdin", () => typed)
    t.mock.getter(process, "stdout", () => screen)
    // #region ask
    const careful = createAgent({
      model,
      // Asks unless the amount is a number up to 100.
      runtime: jsRuntime({ pay: fn(pay, { approve: ({ args }) => !(typeof args[1] === "number" && args[1] <= 100) }) }),
    })
    await display(careful.run("Pay the bills")) // shows each such call in the terminal, and waits for y or n
    // #endregion
    t.mock.restoreAll()
    assert.match(shown, /pay\("Bob", 101\)[\s\S]*Allow it\?[\s\S]*"Eve", 2000[\s\S]*Allow it\?[\s\S]*"Kim", NaN/)
    assert.deepEqual(paid, [
      ["Ada", 100],
      ["Bob", 101],
    ])
  })

  test("for a browser streams the events, and the run continues without it", async () => {
    const { promise: day, resolve: endDay } = Promise.withResolvers<string>()
    const model = scriptedModel([() => day, "A quiet day."])
    const ended: string[] = []
    const agent = createAgent({
      model,
      onEvent: (event) => {
        if (event.type === "run-end") ended.push(event.status)
      },
    })
    const process = { env: { PORT: "0" } }
    // #region stream
    const server = createServer((_request, response) => toNode(agent.run("Summarise the day"), response))
    server.listen(Number(process.env.PORT ?? 8080), "localhost")
    // #endregion
    await once(server, "listening")
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    // The first browser leaves before the answer is there.
    const gone = once(server, "request").then(([, response]) => once(response, "close"))
    const browser = get(url).on("error", () => {})
    await until(() => model.requests.length === 1)
    browser.destroy()
    await gone
    endDay("A long day.")
    await until(() => ended.length === 1)
    assert.deepEqual(ended, ["done"])
    assert.match(await (await fetch(url)).text(), /run-start[\s\S]*A quiet day\.[\s\S]*run-end/)
    server.close()
    await once(server, "close")
  })

  test("for a typed object returns it", async () => {
    const mail = "Ada owes 12.50, due on 1 May 2026."
    const filled = "invoice = { customer: mail.split(' ')[0], total: 12.5, due: '2026-05-01' }"
    const agent = createAgent({
      model: scriptedModel([cell(filled), "Filled in."]),
      runtime: () => jsRuntime({ mail: variable("") }),
    })
    // #region typed-object
    const invoice = z.object({ customer: z.string(), total: z.number(), due: z.iso.date() })
    const result = await agent.run("Read the mail and fill in the invoice", { values: { mail }, outputs: { invoice } })
    if (result.status === "done") console.log(result.objects.invoice.total)
    // #endregion
    assert.equal(result.status, "done")
    assert.deepEqual(result.objects.invoice, { customer: "Ada", total: 12.5, due: "2026-05-01" })
  })

  test("for one conversation per user keeps each apart, also for a second call", async (t) => {
    await workIn(t)
    const agent = createAgent({
      model: scriptedModel(({ messages }) => `message ${messages.filter(({ role }) => role === "user").length}`),
    })
    // #region conversation
    async function reply(user: string, text: string): Promise<string> {
      await using session = await agent.session({ id: user, archive: ".karst" }) // created at first, resumed later
      return (await session.send(text)).output
    }
    // #endregion
    assert.equal(await reply("ada", "Hi"), "message 1")
    assert.equal(await reply("bob", "Hi"), "message 1")
    assert.equal(await reply("ada", "And now?"), "message 2")
  })

  test("for a judge sends an answer back until it is good", async () => {
    const agent = createAgent({ model: scriptedModel(["Blue.", "Blue, because of the light."]) })
    const model = scriptedModel(({ messages }) => (JSON.stringify(messages).includes("because") ? "good" : "Say why."))
    // #region judge
    const judge = createAgent({ model, instructions: "Answer only `good`, or say what is missing." })

    const reviewed = agent.with({
      hooks: {
        async afterCycle({ next, output }) {
          if (next !== "done") return // it is still working
          const verdict = await judge.run(`Is this answer complete?\n\n${output}`)
          return verdict.output === "good" ? undefined : { steer: verdict.output }
        },
      },
    })
    // #endregion
    assert.equal((await reviewed.run("Why is the sky blue?")).output, "Blue, because of the light.")
  })

  test("for another try goes on with what the first one did", async () => {
    const agent = createAgent({
      model: scriptedModel([cell("const found = 6 * 7")]),
      runtime: () => jsRuntime({}),
      limits: { cycles: 1 },
    })
    const strongModel = scriptedModel([cell("console.log(found)"), "It is 42."])
    // #region another-try
    let result = await agent.run("Find the cause")
    if (result.status === "stopped") {
      const stronger = agent.with({ model: strongModel, limits: { cycles: 40 } })
      result = await stronger.run("Go on", { from: result })
    }
    // #endregion
    assert.deepEqual([result.status, result.output], ["done", "It is 42."])
    assert.match(JSON.stringify(strongModel.requests.at(-1)?.messages), /Find the cause[\s\S]*42/)
  })

  test("for a list works through it in one cell", async () => {
    const model = scriptedModel([cell("text.length > 3 ? 'long' : 'short'"), "long", cell("text"), "short"])
    const bossModel = scriptedModel([() => cell(bossCell), "Done."])
    const texts = ["tree"]
    // #region list
    const worker = createAgent({ model, runtime: () => jsRuntime({ text: variable("") }) })
    const boss = createAgent({ model: bossModel, runtime: jsRuntime({ worker, texts }) })
    // #endregion
    const bossCell = `
      // #region list
      // a cell of boss:
      const replies = await worker.runAll(
        texts.map((text) => ({ prompt: "Classify text", values: { text } })),
        { maxParallel: 8 },
      )
      // #endregion
      replies.map((reply) => reply.output)
    `
    assert.equal((await boss.run("Classify the texts")).status, "done")
    assert.match(JSON.stringify(bossModel.requests.at(-1)?.messages), /\['long'\]|\[ 'long' \]/)
  })

  test("for every night runs once a day", async (t) => {
    await workIn(t)
    const model = scriptedModel(() => "Closed.")
    const analyst = createAgent({ model, runtime: () => jsRuntime({}) })
    async function startNightly() {
      // #region nightly
      const nightly = createEngine({ agents: { analyst }, store: sqliteStore("karst.db") })
      await nightly.recover()
      const today = new Date().toISOString().slice(0, 10)
      const { id } = await nightly.submit("analyst", "Close the books", { key: `books-${today}` }) // once a day
      // #endregion
      const { output } = await nightly.result(id)
      await nightly.close()
      return { id, output }
    }
    const first = await startNightly()
    assert.equal(first.output, "Closed.")
    // Another day may begin between the two.
    if ((await startNightly()).id === first.id) assert.equal(model.requests.length, 1)
  })

  test("for saving writes what happened", async (t) => {
    await workIn(t)
    const agent = createAgent({ model: scriptedModel(["May."]) })
    // #region save
    await using session = await agent.session({ archive: ".karst" })
    await session.send("Which month was best?")
    await session.save("trajectory.json") // messages, calls, usage, as JSON
    // #endregion
    assert.match(await readFile("trajectory.json", "utf8"), /Which month was best\?[\s\S]*May\./)
  })
})
