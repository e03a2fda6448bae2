// test lane: durable
import assert from "node:assert/strict"
import { test } from "node:test"
import { AgentError, createAgent, fn, jsRuntime, messageText, tool, toolResult } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"
import * as z from "zod"

test("a tool call that nobody knows about is asked for, and the run waits for that without a worker", async () => {
  const kept = memoryStore()
  let isDown = false
  const store: Store = {
    ...kept,
    commit: (changes, guard) => (isDown ? Promise.reject(new Error("away")) : kept.commit(changes, guard)),
  }
  let paid = 0
  const pay = tool({
    name: "pay",
    description: "Pays the bill.",
    input: z.object({}),
    unknown: "ask",
    run() {
      // From here on nothing is written: as a crash right after the call.
      isDown = paid++ === 0
      return "Paid."
    },
  })
  const model = scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "result") ? "Done." : [{ type: "tool-call", id: "1", name: "pay", input: {} }],
  )
  const agent = createAgent({ model, tools: [pay], noTool: "answer" })
  const first = createEngine({ agents: { agent }, store, leaseMs: 50, backend: inlineBackend({ onError() {} }) })
  const { id } = await first.submit("agent", "Pay")
  await first.work()
  while (!isDown) await new Promise((resolve) => setImmediate(resolve))
  await first.close()

  await using second = createEngine({ agents: { agent }, store: kept, holdMs: 0, leaseMs: 50 })
  await second.recover()
  const { status, pending } = await second.result(id)
  assert.equal(status, "waiting")
  assert.equal(paid, 1)
  await second.approve(id, pending?.kind === "approval" ? pending.id : "", "allow")
  assert.equal((await second.result(id)).output, "Done.")
  assert.equal(paid, 2)
})

test("a tool call whose outcome is unknown after a crash is a result with a code of its own", async () => {
  const kept = memoryStore()
  let isDown = false
  const store: Store = {
    ...kept,
    commit: (changes, guard) => (isDown ? Promise.reject(new Error("away")) : kept.commit(changes, guard)),
  }
  let paid = 0
  const pay = tool({
    name: "pay",
    description: "Pays the bill.",
    run() {
      // From here on nothing is written: as a crash right after the call.
      isDown = paid++ === 0
      return "Paid."
    },
  })
  const model = scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "result") ? "Done." : [{ type: "tool-call", id: "1", name: "pay", input: {} }],
  )
  const agent = createAgent({ model, tools: [pay], noTool: "answer" })
  const first = createEngine({ agents: { agent }, store, leaseMs: 50, backend: inlineBackend({ onError() {} }) })
  const { id } = await first.submit("agent", "Pay")
  await first.work()
  while (!isDown) await new Promise((resolve) => setImmediate(resolve))
  await first.close()

  await using second = createEngine({ agents: { agent }, store: kept, leaseMs: 50 })
  await second.recover()
  assert.equal((await second.result(id)).output, "Done.")
  assert.equal(paid, 1)
  const ends = []
  for await (const event of second.watch(id)) if (event.type === "tool-end") ends.push(event)
  assert.deepEqual(
    ends.map(({ error }) => error?.code),
    ["unknown-outcome"],
  )
})

test("what a tool gave before a restart is the same result after it, its directive included", async () => {
  const store = memoryStore()
  let looked = 0
  const tools = [
    tool({
      name: "look",
      description: "Looks.",
      input: z.object({}),
      run: () => toolResult({ text: `Looked: ${++looked}.`, value: new Map([["seen", looked]]) }),
    }),
    tool({
      name: "end",
      description: "Ends the task.",
      input: z.object({}),
      run: () => toolResult({ text: "Ended.", directive: { kind: "finish", message: `Ended by look ${looked}.` } }),
    }),
    tool({ name: "wipe", description: "Wipes.", input: z.object({}), approve: true, run: () => "Wiped." }),
  ]
  const calls = ["look", "wipe", "end"].map((name) => ({ type: "tool-call", id: name, name, input: {} }) as const)
  const agent = createAgent({ model: scriptedModel([calls]), tools })
  const first = createEngine({ agents: { agent }, store, holdMs: 0 })
  const { id } = await first.submit("agent", "Look, wipe and end")
  const { pending } = await first.result(id)
  await first.close()

  await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
  await second.approve(id, pending?.kind === "approval" ? pending.id : "", "allow")
  const { output, messages } = await second.result(id)
  assert.equal(output, "Ended by look 1.")
  const results = messages.flatMap(({ role, parts }) =>
    role === "result" ? parts.map((part) => ("text" in part ? part.text : "")) : [],
  )
  assert.deepEqual(results, ["Looked: 1.", "Wiped.", "Ended."])
})

test("a failure before a restart is the same failure after it, for the model and for cells", async () => {
  const store = memoryStore()
  const fails = (name: string, error: Error) =>
    tool({ name, description: "Fails.", input: z.object({}), run: () => Promise.reject(error) })
  const slow = tool({
    name: "slow",
    description: "Never ends.",
    input: z.object({}),
    timeoutMs: 1,
    run: () => new Promise(() => undefined),
  })
  const tools = [
    fails("ours", new AgentError("Too many.", { code: "rate-limited", retryable: true })),
    fails("plain", new TypeError("No.")),
    slow,
    tool({ name: "wipe", description: "Wipes.", input: z.object({}), approve: true, run: () => "Wiped." }),
  ]
  const missing = fn(() => Promise.reject(Object.assign(new Error("no such file"), { code: "ENOENT" })))
  const wipe = fn(() => "wiped", { approve: true })
  const cell = "```ts\nconst found = await missing().catch((error) => error.code)\nawait wipe(); found\n```\n"
  const calls = tools.map(({ name }) => ({ type: "tool-call", id: name, name, input: {} }) as const)
  const steps = [calls, cell, "Done."]
  const agent = createAgent({
    model: scriptedModel(({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? ""),
    tools,
    noTool: "answer",
    runtime: () => jsRuntime({ missing, wipe }),
  })
  let id = ""
  let results: string[] = []
  for (let restart = 0; restart < 3; restart++) {
    await using engine = createEngine({ agents: { agent }, store, holdMs: 0 })
    if (!id) id = (await engine.submit("agent", "Go")).id
    else await engine.approve(id, (await engine.get(id))?.pending?.id ?? "", "allow")
    const { messages } = await engine.result(id)
    results = messages.filter(({ role }) => role === "result").map(messageText)
  }
  const codes = results.flatMap((text) => /\(([\w-]+)\)|'ENOENT'/.exec(text)?.[0] ?? [])
  assert.deepEqual(codes, ["(rate-limited)", "(tool-failed)", "(timeout)", "'ENOENT'"])
})
