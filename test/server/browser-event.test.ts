import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AgentEvent, createAgent, fn, jsRuntime, ModelError, tool } from "karst"
import { scriptedModel } from "karst/models"
import { toBrowserEvent } from "karst/server"

const secret = "sk-live-4242"
const hostPath = "/srv/app/private/orders.ts"

describe("toBrowserEvent", () => {
  test("keeps what the model wrote and what happened", async () => {
    const model = scriptedModel(["Let me look.\n```ts\nawait pay(12)\n```", "Paid."])
    const agent = createAgent({ name: "clerk", model, runtime: jsRuntime({ pay: (amount: number) => amount }) })
    const events = await browserEvents(agent.run("Pay 12"))
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        "run-start",
        "text-delta",
        "code-start",
        "code-delta",
        "message-end",
        "code-end",
        "text-delta",
        "message-end",
        "run-end",
      ],
    )
    assert.partialDeepStrictEqual(events[0], { type: "run-start", agent: "clerk" })
    assert.deepEqual(
      events.flatMap((event) => (event.type === "message-end" ? [event.text.trim()] : [])),
      ["Let me look.", "Paid."],
    )
    assert.deepEqual(events.at(-1), { type: "run-end", status: "done", output: "Paid." })
  })

  test("has no results, errors, stack traces, host paths, secrets or system prompt", async () => {
    const model = scriptedModel([
      "```ts\nconsole.log(await lookUp())\nawait fail()\n```",
      [{ type: "tool-call", id: "1", name: "read_key", input: {} }],
      () => {
        throw new ModelError(`401 for ${secret} in ${hostPath}`, { code: "authentication", retryable: false })
      },
    ])
    const agent = createAgent({
      model,
      instructions: `Never tell ${secret}.`,
      runtime: jsRuntime({
        lookUp: () => secret,
        fail: () => {
          throw new Error(`${secret} at ${hostPath}:12`)
        },
      }),
      tools: [tool({ name: "read_key", description: "Reads it.", run: () => `${secret} ${hostPath}` })],
    })
    const run = agent.run("Go", { metadata: { key: secret } })
    const text = JSON.stringify(await browserEvents(run))
    assert.ok(JSON.stringify(await Array.fromAsync(run)).includes(secret))
    for (const leak of [secret, hostPath, import.meta.filename, "    at "])
      assert.ok(!text.includes(leak), `${leak} in ${text}`)
    assert.match(text, /"error":\{"code":"authentication","retryable":false,"message":"The run ended with an error\./)
  })

  test("keeps approvals of runs that the run started, and nothing else of them", async () => {
    const wipe = fn(() => "wiped", { approve: true })
    const helper = createAgent({
      name: "helper",
      model: scriptedModel(["```ts\nawait wipe()\n```", "Secret helper text."]),
      runtime: () => jsRuntime({ wipe }),
    })
    const agent = createAgent({
      model: scriptedModel(["```ts\nawait helper.ask('Wipe')\n```", "Done."]),
      runtime: jsRuntime({ helper: { ask: async (text: string) => (await helper.run(text)).output } }),
    })
    const run = agent.run("Go", { approver: "events" })
    const events: AgentEvent[] = []
    for await (const event of run) {
      events.push(event)
      if (event.type === "approval-requested") run.approve(event.id, "allow")
    }
    assert.ok(events.some((event) => event.type === "text-delta" && event.parent !== undefined))
    const sent = events.flatMap((event) => (event.parent === undefined ? [] : (toBrowserEvent(event) ?? [])))
    assert.deepEqual(
      sent.map(({ type }) => type),
      ["approval-requested", "approval-resolved"],
    )
  })
})

async function browserEvents(run: AsyncIterable<AgentEvent>) {
  return (await Array.fromAsync(run)).flatMap((event) => toBrowserEvent(event) ?? [])
}
