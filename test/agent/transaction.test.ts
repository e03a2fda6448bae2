import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { messageText } from "../../src/core/message.ts"
import { type ScriptedModel, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

/** The last message that the model got before a request. */
function toldBefore(model: ScriptedModel, call: number): string {
  const message = model.requests[call]?.messages.at(-1)
  assert.ok(message)
  return message.role === "result" ? JSON.stringify(message.parts) : messageText(message)
}

describe("an agent whose cells are transactions", () => {
  test("rolls back a cell that throws and tells the model that nothing is left of it", async () => {
    const tasks = ["a"]
    const model = scriptedModel([cell("tasks.push('b'); const done = 1; tasks.nope()"), cell("tasks.length"), "One."])
    const runtime = jsRuntime({ tasks })
    const { output } = await createAgent({ model, runtime, transaction: true }).run("Count the tasks")
    assert.equal(output, "One.")
    assert.deepEqual(tasks, ["a"])
    assert.match(toldBefore(model, 1), /nope is not a function/)
    assert.match(toldBefore(model, 1), /The cell was rolled back: nothing that it did to the namespace is left\./)
    assert.deepEqual(
      (await runtime.names()).map(({ name }) => name),
      ["tasks"],
    )
  })

  test("tells the model which calls stay made", async () => {
    const sent: string[] = []
    const model = scriptedModel([cell("await send('hello'); throw new Error('no')"), "Failed."])
    await createAgent({
      model,
      runtime: jsRuntime({ send: (text: string) => sent.push(text) }),
      transaction: true,
    }).run("Go")
    assert.deepEqual(sent, ["hello"])
    assert.match(toldBefore(model, 1), /The cell was rolled back, except: send \(was called once/)
  })

  test("asks the check of its options after each cell", async () => {
    const account = { balance: 10 }
    const model = scriptedModel([cell("account.balance -= 20"), cell("account.balance -= 5"), "Paid."])
    const transaction = { check: () => account.balance >= 0 }
    await createAgent({ model, runtime: jsRuntime({ account }), transaction }).run("Pay")
    assert.equal(account.balance, 5)
    assert.match(toldBefore(model, 1), /The check of the transaction gave false/)
  })

  test("takes it as an option of one run too, and otherwise keeps what a failed cell did", async () => {
    const list: number[] = []
    const model = scriptedModel([cell("list.push(1); throw 1"), "No.", cell("list.push(2); throw 2"), "No."])
    const agent = createAgent({ model, runtime: jsRuntime({ list }) })
    await agent.run("Try", { transaction: true })
    assert.deepEqual(list, [])
    await agent.run("Try")
    assert.deepEqual(list, [2])
  })

  test("says nothing of rolling back where a cell was never run", async () => {
    const model = scriptedModel([cell("const = 1"), "Sorry."])
    await createAgent({ model, runtime: jsRuntime(), transaction: true }).run("Go")
    assert.doesNotMatch(toldBefore(model, 1), /rolled back/)
  })
})
