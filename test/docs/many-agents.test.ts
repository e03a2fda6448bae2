// The snippets of docs/many-agents.md, each run as it is shown there.

// #region delegate
import { agentTool, handoffTool } from "karst/tools"
// #endregion

// #region objects
import { createAgent, jsRuntime } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { variable } from "karst"
import { scriptedModel } from "karst/models"
import { memoryWorkspace } from "karst/workspaces"
import { call, delegate, resultIn } from "../tools/delegate-case.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

interface Row {
  city: string
  celsius: number | null
}

describe("docs/many-agents.md", () => {
  test("shows an agent in the runtime of another one, and a cell that uses it", async () => {
    const rawData: Row[] = [
      { city: "Oslo", celsius: -4 },
      { city: "Rome", celsius: null },
    ]
    const bossCell = `
      // #region cell
      await cleaner.runtime.update({ data: rawData })
      const reply = await cleaner.run("Clean it")
      if (reply.status === "done") console.log(await cleaner.runtime.retrieve("cleaned"))
      // #endregion
    `
    const model = scriptedModel([
      cell(bossCell),
      cell("cleaned = data.filter((row) => row.celsius !== null)"),
      "One row had no value.",
      "Only Oslo has a value.",
    ])
    // #region objects
    const cleaner = createAgent({
      name: "cleaner",
      description: "Drops bad rows",
      model,
      runtime: jsRuntime({ data: variable<Row[]>([]), cleaned: variable<Row[]>([]) }),
    })
    const boss = createAgent({ name: "boss", model, runtime: jsRuntime({ rawData, cleaner }) })
    // #endregion
    const { output, trajectory } = await boss.run("Clean the data")
    assert.equal(output, "Only Oslo has a value.")
    assert.match(model.requests[0]?.system ?? "", /declare const cleaner: Agent<typeof CleanerObjects>/)
    const shown = trajectory.events.find((event) => event.type === "code-end" && !event.parent)
    assert.match(shown?.type === "code-end" ? shown.text : "", /\[ \{ city: 'Oslo', celsius: -4 \} \]/)
    const [row] = (await boss.runtime?.retrieve("cleaner").then((agent) => agent.runtime?.retrieve("cleaned"))) ?? []
    assert.equal(row, rawData[0], "the same object")
  })

  test("shows one runtime for two agents: each sees what the other did", async () => {
    const orders = [{ id: "a7", packed: false, sent: false }]
    const journal: string[] = []
    const packing = cell("const box = 'box 4'\norders[0].packed = true\njournal.push('packed into ' + box)")
    const sending = cell("orders[0].sent = orders[0].packed\njournal.push('sent ' + box)")
    const model = scriptedModel([packing, "Packed.", sending, "Sent."])
    // #region shared
    const runtime = jsRuntime({ orders, journal })
    const packer = createAgent({ name: "packer", model, runtime })
    const sender = createAgent({ name: "sender", model, runtime })
    // #endregion
    await packer.run("Pack the order")
    assert.equal((await sender.run("Send the order")).output, "Sent.")
    assert.deepEqual(orders, [{ id: "a7", packed: true, sent: true }])
    assert.deepEqual(journal, ["packed into box 4", "sent box 4"])
    assert.match(JSON.stringify(model.requests[2]), /box: string/, "the names that another agent created")
  })

  test("shows a batch: each task has a runtime and values of its own", async () => {
    const model = scriptedModel(({ messages }) =>
      messages.length === 1 ? cell("finish(texts.join(' and ') + ': fine')") : "Never asked.",
    )
    // #region batch
    const worker = createAgent({ model, runtime: () => jsRuntime({ texts: variable<string[]>([]) }) })
    // #endregion
    const batchCell = `
      // #region batch
      // in a cell of another agent:
      await worker.runAll(batches.map((texts) => ({ prompt: "Judge texts", values: { texts } })), { maxParallel: 8 })
      // #endregion
    `
    const batches = [["one", "two"], ["three"]]
    const bossModel = scriptedModel([cell(batchCell), "All fine."])
    const boss = createAgent({ model: bossModel, runtime: jsRuntime({ worker, batches }) })
    const { trajectory } = await boss.run("Judge the batches")
    const replies = trajectory.events.findLast((event) => event.type === "code-end")
    assert.match(replies?.text ?? "", /output: 'one and two: fine'[\s\S]*output: 'three: fine'/)
  })

  test("shows an agent that delegates to two others", async () => {
    const workspace = memoryWorkspace()
    const researcher = createAgent({
      model: scriptedModel([call("write_file", { path: "a.md", content: "42" }), "Found."]),
    })
    const writer = createAgent({ model: scriptedModel(["Written."]) })
    const poet = createAgent({ name: "poet", description: "Writes poems", model: scriptedModel(["Steam rises."]) })
    const refunds = createAgent({ name: "refunds", description: "Pays back", model: scriptedModel(["Paid back."]) })
    const model = scriptedModel([
      delegate(["researcher: Look it up", "writer: Write it down"]),
      "Both are done.",
      call("poet", { prompt: "A line about tea" }),
      call("transfer_to_refunds", {}),
    ])
    // #region delegate
    const lead = createAgent({ model, workspace, agents: { researcher, writer } }) // tools: delegate, delegate_status
    const desk = createAgent({ model, tools: [agentTool(poet), handoffTool(refunds)] }) // from "karst/tools"
    // #endregion
    assert.equal((await lead.run("Report")).output, "Both are done.")
    const offered = model.requests[0]?.tools?.map(({ name }) => name)
    assert.ok(offered?.includes("delegate") && offered.includes("delegate_status"), String(offered))
    assert.match(resultIn(model.requests[1]), /\[t1 researcher\] done\.[\s\S]*Found\.[\s\S]*\[t2 writer\] done\./)
    assert.equal(
      Buffer.from(await workspace.read("a.md")).toString(),
      "42",
      "a sub-agent uses the workspace of its parent",
    )
    const result = await desk.run("A poem, then my money back")
    assert.match(resultIn(model.requests[3]), /Steam rises\./)
    assert.equal(result.output, "Paid back.")
    assert.equal(result.completion?.by, "handoff")
  })
})
