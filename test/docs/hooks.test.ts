// The programs of docs/hooks.md, each run as it is shown there.

// #region hooks
import { createAgent, guardInput, guardOutput, type Hooks, validateOutput } from "karst"
// #endregion

import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { fn, type Guardrail, jsRuntime, type Tool } from "karst"
import { scriptedModel } from "karst/models"
import { z } from "zod"
import { cellValue } from "../runtime/cell-results.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\``

describe("docs/hooks.md", () => {
  test("observes, adds a note, steers, blocks a prompt and validates the answer", async () => {
    const seen: unknown[] = []
    const log = (...values: unknown[]) => void seen.push(...values)
    const looksStuck = (text: string) => text.includes("cannot")
    const noSecrets: Guardrail = (text) => (text.includes("password") ? { block: "No secrets." } : undefined)
    const schema = z.object({ rooms: z.number() })
    const tools: Tool[] = []
    const model = scriptedModel(["I cannot.", "Three.", '{ "rooms": 3 }'])
    // #region hooks
    const audit: Hooks = {
      beforeRun: ({ prompt, messages }, { agent }) => log(agent, prompt, messages.length),
      // Also has system, messages, tools and usage.
      beforeModel: ({ cycle }) => (cycle === 1 ? { note: "The office closes at five." } : undefined),
      // Also has cycle, next, usage and messages.
      afterCycle: ({ output }) => (looksStuck(output) ? { steer: "Try another way." } : undefined),
    }
    const agent = createAgent({ model, tools, hooks: [audit, guardInput(noSecrets), validateOutput(schema)] })
    // #endregion
    const result = await agent.run("How many rooms?")
    assert.deepEqual([result.status, result.output], ["done", '{ "rooms": 3 }'])
    assert.deepEqual(seen, ["agent", [{ type: "text", text: "How many rooms?" }], 0])
    const sent = model.requests.map(({ messages }) => JSON.stringify(messages))
    assert.match(sent[0] ?? "", /closes at five/)
    assert.equal(sent[2]?.match(/closes at five/g)?.length, 1)
    assert.match(sent[1] ?? "", /Try another way\./)
    assert.match(sent[2] ?? "", /not accepted/)
    const blocked = await agent.run("The password is hunter2")
    assert.deepEqual([blocked.status, blocked.reason, blocked.detail], ["stopped", "guardrail", "No secrets."])
    assert.equal(model.requests.length, 3)
  })

  test("changes, answers and refuses calls, and replaces failures", async () => {
    const made: unknown[] = []
    const asked: unknown[] = []
    const audited: string[] = []
    const cached = ["Ada"]
    const audit: Hooks = { afterCall: ({ binding }, { ok }) => void audited.push(`${binding} ${ok}`) }
    const runtime = jsRuntime({
      pay: fn((order: number, euros: number) => made.push([order, euros]), {
        input: z.tuple([z.int(), z.number().max(100)]),
      }),
      find: fn(() => made.push("find"), { approve: true }),
      wipe: fn(() => made.push("wipe"), { approve: true }),
      fail() {
        throw new Error("out of order")
      },
    })
    const model = scriptedModel([
      cell("const all = [await pay(7, 99), await find(), await wipe(), await fail()]"),
      "Done.",
    ])
    // #region around-a-call
    const hooks: Hooks = {
      // Returns nothing, or one of these:
      beforeCall({ binding, args }) {
        if (binding === "pay") return { args: [args[0], 10] } // other arguments, which are validated again
        if (binding === "find") return { result: cached } // a result instead of the call: no approval, no call
        if (binding === "wipe") return { refuse: "not on Fridays" } // a CallRefused with this reason
      },
      // The call was made, was refused, failed, or a hook returned its result.
      afterCall(_call, outcome) {
        if (!outcome.ok) return { value: null }
      },
    }
    const agent = createAgent({ model, runtime, hooks: [audit, hooks] })
    // #endregion
    const events: unknown[] = []
    const run = agent.run("Do it", { approver: ({ binding }) => Boolean(asked.push(binding)) })
    for await (const event of run) if (event.type === "call-end") events.push({ by: event.by, args: event.call?.args })
    assert.equal((await run).status, "done")
    assert.deepEqual(made, [[7, 10]])
    assert.deepEqual(asked, [])
    assert.deepEqual(audited, ["pay true", "find true", "wipe false", "fail false"])
    assert.deepEqual(await cellValue(runtime, "all"), [1, ["Ada"], null, null])
    assert.deepEqual(events, [
      { by: undefined, args: "7, 10" },
      { by: "hook", args: undefined },
      { by: "hook", args: undefined },
      { by: "hook", args: undefined },
    ])
    const errors: string[] = []
    const keepErrors: Hooks = { afterCall: (_, outcome) => void (!outcome.ok && errors.push(`${outcome.error}`)) }
    const wrong = cell("await wipe()")
    await agent
      .with({ model: scriptedModel([wrong, "Done."]) })
      .run("Do it", { hooks: [keepErrors, { ...hooks, afterCall: () => undefined }] })
    assert.match(errors[0] ?? "", /^CallRefused: .*not on Fridays/)
    const invalid: Hooks = { beforeCall: () => ({ args: ["x", 10] }) }
    await agent
      .with({ model: scriptedModel([cell("await pay(7, 1)"), "Done."]) })
      .run("Do it", { hooks: [keepErrors, invalid] })
    assert.match(errors.at(-1) ?? "", /expected (int|number)/)
    assert.deepEqual(made, [[7, 10]])
  })

  test("blocks prompts, rewrites outputs and sends wrong answers back", async () => {
    const isOffTopic = (text: string) => !text.includes("order")
    const cardNumber = /\d{4}-\d{4}/g
    const model = scriptedModel(["About 10.", '{ "total": 10, "card": "4111-1111" }', "Many.", "A lot: 4111-1111."])
    // #region guardrails
    const hooks = [
      guardInput((text) => (isOffTopic(text) ? { block: "Only questions about orders." } : undefined)),
      guardOutput((text) => ({ rewrite: text.replaceAll(cardNumber, "****") })),
      validateOutput(z.object({ total: z.number() })), // or (output) => "what is wrong" | undefined
    ]
    const agent = createAgent({ model, hooks })
    // #endregion
    const offTopic = await agent.run("How is the weather?")
    assert.deepEqual([offTopic.status, offTopic.reason], ["stopped", "guardrail"])
    assert.equal(offTopic.detail, "Only questions about orders.")
    assert.equal(model.requests.length, 0)
    const total = await agent.run("The total of order 7?")
    assert.deepEqual([total.status, total.output], ["done", '{ "total": 10, "card": "****" }'])
    assert.match(JSON.stringify(model.requests[1]?.messages), /not accepted/)
    const wrong = await agent.run("The total of order 8?")
    assert.deepEqual([wrong.status, wrong.reason, wrong.output], ["stopped", "guardrail", "A lot: ****."])

    const short = validateOutput((output) => (output.length > 5 ? "Use fewer words." : undefined))
    const brief = await createAgent({ model: scriptedModel(["A long one.", "Ten."]), hooks: short }).run("How many?")
    assert.deepEqual([brief.status, brief.output], ["done", "Ten."])
  })
})
