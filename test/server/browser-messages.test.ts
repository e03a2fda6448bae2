import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type CodeAgent, createAgent, guardOutput, jsRuntime, type Run, tool, toolResult } from "karst"
import { scriptedModel } from "karst/models"
import { toBrowserEvent, toBrowserMessages } from "karst/server"
import { loadSession } from "karst/sessions"
import { memoryStore } from "karst/stores"
import * as z from "zod"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

const complete = tool({
  name: "complete",
  description: "Ends the task.",
  input: z.object({ message: z.string() }),
  run: ({ message }) => toolResult({ text: "Ended.", directive: { kind: "finish", message } }),
})

const talkOf = (session: { trajectory(): { events: Parameters<typeof toBrowserMessages>[0] } }) =>
  toBrowserMessages(session.trajectory().events).map(({ role, text }) => `${role}: ${text}`)

describe("toBrowserMessages", () => {
  test("returns what the user and the model wrote, without code, results and notes of the host", async () => {
    const runtime = jsRuntime({ secret: () => "sk-live-4242" })
    const model = scriptedModel([`Let me look.\n${cell("secret()")}`, "You have 3 orders.", cell("1 + 1"), "Two."])
    await using session = await createAgent({ model, runtime }).session()
    await session.send("How many orders?")
    await runtime.inject({ late: 1 })
    await session.send("And 1 + 1?")
    assert.ok(session.messages().some((message) => message.role === "user" && message.origin === "host"))
    assert.deepEqual(talkOf(session), [
      "user: How many orders?",
      "assistant: Let me look.",
      "assistant: You have 3 orders.",
      "user: And 1 + 1?",
      "assistant: Two.",
    ])
  })

  test("names the run of each message, so that a page can drop them when it reads that run again", async () => {
    await using session = await createAgent({ model: scriptedModel(["One.", "Two."]) }).session()
    const runs: Run[] = [session.send("1"), session.send("2")]
    for (const run of runs) await run
    const messages = toBrowserMessages(session.trajectory().events)
    assert.deepEqual(
      messages.map(({ run }) => run),
      runs.flatMap(({ id }) => [id, id]),
    )
    assert.equal(new Set(messages.map(({ id }) => id)).size, 4)
  })

  test("works after a restart, for a session that is only loaded, and after the conversation was shortened", async () => {
    const archive = memoryStore()
    const agent = createAgent({
      model: scriptedModel(({ messages }) =>
        JSON.stringify(messages.at(-1)).includes("summar") ? "- nothing" : "Noted.",
      ),
    })
    {
      await using session = await agent.session({ id: "ada", archive })
      for (const prompt of ["One", "Two", "Three"]) await session.send(prompt)
      await session.send("Four", { compact: true })
    }
    const expected = ["One", "Two", "Three", "Four"].flatMap((text) => [`user: ${text}`, "assistant: Noted."])
    assert.deepEqual(talkOf(await loadSession(archive, "ada")), expected)
    await using again = await agent.session({ id: "ada", archive })
    assert.deepEqual(talkOf(again), expected)
  })

  test("shows the answer of a tool or a cell that ended the run, and the question of one that waits", async () => {
    const finishing = createAgent({ model: scriptedModel([`Ready.\n${cell('finish("All 3 are packed.")')}`]) })
    assert.deepEqual(await talkAfter(finishing, "Pack"), [
      "user: Pack",
      "assistant: Ready.",
      "assistant: All 3 are packed.",
    ])
    const call = (name: string, input: { [key: string]: string }) =>
      [{ type: "tool-call", id: name, name, input }] as const
    const model = scriptedModel([call("ask", { question: "Which one?" }), call("complete", { message: "It is done." })])
    await using session = await createAgent({ model, tools: [complete] }).session()
    await session.send("Do it")
    await session.send("The first")
    assert.deepEqual(talkOf(session), [
      "user: Do it",
      "assistant: Which one?",
      "user: The first",
      "assistant: It is done.",
    ])
  })

  test("shows what a guardrail made of the answer", async () => {
    const model = scriptedModel(["The password is 1234.", "My name is Bob."])
    const hooks = guardOutput((output) =>
      output.includes("password") ? { block: "No passwords." } : { rewrite: "My name is secret." },
    )
    await using session = await createAgent({ model, hooks }).session()
    for (const prompt of ["Password?", "Name?"]) await session.send(prompt)
    assert.deepEqual(talkOf(session), ["user: Password?", "user: Name?", "assistant: My name is secret."])
  })

  test("includes steering and leaves out what sub-agents wrote", async () => {
    const sub = createAgent({ name: "sub", model: scriptedModel(["Hidden."]) })
    const agent = createAgent({
      model: scriptedModel([cell("(await sub.run('Help')).output.length"), "Done."]),
      runtime: () => jsRuntime({ sub }),
    })
    await using session = await agent.session()
    const run = session.send("Go")
    session.steer("Quickly")
    await run
    assert.deepEqual(talkOf(session).toSorted(), ["assistant: Done.", "user: Go", "user: Quickly"])
  })
})

test("a browser can tell a used-up budget from the limit of one run, and learns nothing that a hook wrote", async () => {
  const usage = { input: 90, output: 10, complete: true }
  const agent = createAgent({ model: scriptedModel(() => cell("1"), { usage }) })
  await using session = await agent.session({ budget: { tokens: 200 } })
  const limit = session.send("One", { limits: { tokens: 50 } })
  assert.deepEqual(await endOf(limit), { reason: "tokens", detail: undefined })
  const budget = session.send("Two")
  assert.deepEqual(await endOf(budget), { reason: "tokens", detail: "The budget of the session is used up: tokens." })
  const hooks = guardOutput(() => ({ block: "secret rule 7" }))
  const guarded = createAgent({ model: scriptedModel(["x"]), hooks }).run("Three")
  assert.deepEqual(await endOf(guarded), { reason: "guardrail", detail: undefined })
})

async function endOf(run: Run) {
  const event = (await Array.fromAsync(run)).at(-1)
  const end = event && toBrowserEvent(event)
  assert.ok(end?.type === "run-end")
  return { reason: end.reason, detail: end.detail }
}

async function talkAfter(agent: CodeAgent, prompt: string): Promise<string[]> {
  await using session = await agent.session()
  await session.send(prompt).settled
  return talkOf(session)
}
