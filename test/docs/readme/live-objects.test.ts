// The first of the five ways in README.md, run as it is shown there.
import assert from "node:assert/strict"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
// #region program
import { createAgent, fn, jsRuntime, variable } from "karst"
import { z } from "zod"
// #endregion
import type { AgentEvent } from "../../../src/index.ts"
import { modelServices, setVariables, workIn } from "../surroundings.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

test("README.md shows an agent on live objects: approvals, limits, typed results and a stored conversation", async (t) => {
  await workIn(t)
  const records = [
    { month: "May", amount: 40 },
    { month: "June", amount: 25 },
  ]
  const db = new DatabaseSync(":memory:")
  db.exec("CREATE TABLE notes (text)")
  const sent: string[] = []
  const mail = (to: string) => void sent.push(to)
  const shown: AgentEvent[] = []
  const render = (event: AgentEvent) => void shown.push(event)
  const best =
    "const [best] = sales.toSorted((a, b) => b.amount - a.amount)\nreport = { month: best.month, total: best.amount }"
  const seven = "for (let n = 1; n <= 7; n++) await mail('ada ' + n)"
  setVariables(t, { OPENAI_API_KEY: "a-key" })
  const services = await modelServices(
    t,
    { text: [cell(best)] },
    { text: ["May."] },
    { text: [cell("sales.at(-1).month")] },
    { text: ["June."] },
    { text: [cell("db.exec('DROP TABLE notes')")] },
    { text: [cell(seven)] },
    { text: ["I may do neither."] },
    { text: [cell("db.exec('DROP TABLE notes')")] },
    { text: [cell(seven)] },
    { text: ["Five mails are sent."] },
    { text: ["It was June."] },
  )
  const logged = t.mock.method(console, "log", () => {})
  // #region program
  const runtime = jsRuntime({
    sales: variable(records, "Sales of 2026"),
    db: variable(db, { guard: { exec: { approve: true } } }), // a method that needs approval
    mail: fn(mail, { approve: true, maxCalls: 5 }), // also when code calls it in a loop
  })
  const agent = createAgent({ model: "openai/gpt-5.2", runtime })
  const result = await agent.run("Which month was best?", {
    outputs: { report: z.object({ month: z.string(), total: z.number() }) },
  })
  if (result.status === "done") console.log(result.objects.report.total) // a number

  await using session = await agent.session({ archive: ".karst" }) // a conversation that survives the process
  for await (const event of session.send("And the worst?")) render(event) // every step, as it happens
  // #endregion
  assert.deepEqual(logged.mock.calls[0]?.arguments, [40])
  assert.deepEqual(result.objects?.report, { month: "May", total: 40 })
  assert.ok(shown.some((event) => event.type === "code-delta"))
  const end = shown.at(-1)
  assert.equal(end?.type === "run-end" && end.output, "June.")

  // Nobody can approve.
  await agent.run("Drop the notes and write mails")
  assert.deepEqual([sent, db.prepare("SELECT * FROM notes").all()], [[], []])
  const asked: unknown[] = []
  const approver = (call: { binding: string; args: readonly unknown[] }) => {
    asked.push(...call.args)
    return call.binding === "mail"
  }
  const { trajectory } = await agent.run("Drop the notes and write mails", { approver })
  assert.deepEqual(
    sent,
    [1, 2, 3, 4, 5].map((n) => `ada ${n}`),
  )
  assert.deepEqual(asked, ["DROP TABLE notes", ...sent], "each mail is a request of its own")
  assert.match(JSON.stringify(trajectory.events), /CallLimitReached/)
  assert.deepEqual(db.prepare("SELECT * FROM notes").all(), [])

  const { handle } = session
  await session.close()
  await using resumed = await agent.session({ archive: ".karst", resume: handle })
  assert.equal((await resumed.send("Which one was it?")).output, "It was June.")
  assert.deepEqual(new Set(services.asked), new Set(["https://api.openai.com/v1/responses"]))
})
