// The programs of docs/recipes.md, each run as it is shown there.
import assert from "node:assert/strict"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { createAgent, jsRuntime, variable } from "karst"
import { createEngine } from "karst/engine"
import { scriptedModel } from "karst/models"
import { sqliteStore } from "karst/stores"
import { z } from "zod"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("the recipe", () => {
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
    await inTemporaryFolder(t)
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
    const classify =
      'const replies = await worker.runAll(texts.map((text) => ({ prompt: "Classify text", values: { text } })), { maxParallel: 8 })'
    const bossModel = scriptedModel([cell(`${classify}\nreplies.map((reply) => reply.output)`), "Done."])
    const model = scriptedModel([cell("text.length > 3 ? 'long' : 'short'"), "long", cell("text"), "short"])
    // #region list
    const worker = createAgent({ model, runtime: () => jsRuntime({ text: variable("") }) })
    const boss = createAgent({ model: bossModel, runtime: jsRuntime({ worker, texts: variable<string[]>([]) }) })
    // a cell of boss: await worker.runAll(texts.map((text) => ({ prompt: "Classify text", values: { text } })), { maxParallel: 8 })
    // #endregion
    await boss.runtime?.update({ texts: ["tree"] })
    assert.equal((await boss.run("Classify the texts")).status, "done")
    assert.match(JSON.stringify(bossModel.requests.at(-1)?.messages), /\['long'\]|\[ 'long' \]/)
  })

  test("for every night runs once a day", async (t) => {
    await inTemporaryFolder(t)
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
    await inTemporaryFolder(t)
    const agent = createAgent({ model: scriptedModel(["May."]) })
    // #region save
    await using session = await agent.session({ archive: ".karst" })
    await session.send("Which month was best?")
    await session.save("trajectory.json") // messages, calls, usage, as JSON
    // #endregion
    assert.match(await readFile("trajectory.json", "utf8"), /Which month was best\?[\s\S]*May\./)
  })
})

/** The recipes write to the working directory. */
async function inTemporaryFolder(t: TestContext): Promise<void> {
  const before = process.cwd()
  const folder = await mkdtemp(join(tmpdir(), "karst-recipes-"))
  process.chdir(folder)
  t.after(async () => {
    process.chdir(before)
    await rm(folder, { recursive: true })
  })
}
