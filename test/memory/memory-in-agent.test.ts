import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { ConfigError, ModelError } from "../../src/core/errors.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { type Message, messageText } from "../../src/core/message.ts"
import { foldMessages } from "../../src/core/trajectory.ts"
import { estimateTokens } from "../../src/core/usage.ts"
import { isPaired } from "../../src/memory/call-result-pairs.ts"
import { estimateMessages } from "../../src/memory/estimate-tokens.ts"
import { summaryOf } from "../../src/memory/summary-text.ts"
import type { Compacted } from "../../src/memory.ts"
import type { ModelRequest } from "../../src/models/model.ts"
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { retrieveAny } from "../retrieve-any.ts"
import { goodSummary } from "./memory-helpers.ts"

const fence = (code: string) => `Working on it.\n\`\`\`ts\n${code}\n\`\`\`\n`
const newest = ({ messages }: ModelRequest) => messages.at(-1)
const overflow = () => new ModelError("too long", { code: "context-overflow" })

describe("two hundred turns in a window of 5,000 tokens", () => {
  const turns = 200
  const window = 5000

  // Writes one cell for each prompt, prints much, and answers when it has the result.
  const worker = (request: ModelRequest): ScriptedStep => {
    if (newest(request)?.role === "result") return "Noted, and done."
    const prompt = request.messages.findLast((message) => message.role === "user" && message.origin === "prompt")
    const [turn] = /\d+/.exec(prompt ? messageText(prompt) : "") ?? []
    return fence(
      `ledger.push(${turn})\nconst turn${turn} = ${turn}\nconsole.log("row ${turn} ".repeat(150))\nledger.length`,
    )
  }

  // Retains the facts it got and adds the prompts it reads; fails three times in the middle.
  const summariser = (request: ModelRequest): ScriptedStep => {
    asked++
    if (asked >= 4 && asked <= 6) return new ModelError("down", { code: "server-error" })
    const text = request.messages.map(messageText).join("\n")
    const codes = [...text.matchAll(/the code is (K\d+)/g)].map(([, code]) => code)
    return goodSummary(
      [...new Set(codes)]
        .slice(-8)
        .map((code) => `- the code is ${code}`)
        .join("\n") || "- none",
    )
  }
  let asked = 0

  test("leave the objects intact, no pair split, no summary lost, and every request within the window", async () => {
    const ledger: number[] = []
    const model = scriptedModel(worker, { contextWindow: window })
    const writer = scriptedModel(summariser, { contextWindow: window })
    const agent = createAgent({ model, runtime: jsRuntime({ ledger }), memory: { model: writer } })
    await using session = await agent.session()
    const events: AgentEvent[] = []
    let longest = 0
    let summaries = 0
    for (let turn = 0; turn < turns; turn++) {
      const code = turn % 20 === 0 ? ` Remember: the code is K${turn}.` : ""
      const run = session.send(`Enter ${turn} in the ledger.${code}`)
      for await (const event of run) if (!event.type.endsWith("-delta")) events.push(event)
      assert.equal((await run).status, "done")
      const messages = session.messages()
      assert.ok(isPaired(messages), `turn ${turn}`)
      const kept = messages.filter(summaryOf)
      assert.ok(kept.length <= 1)
      if (summaries > 0) assert.equal(kept.length, 1, `turn ${turn}: the summary is lost`)
      summaries += kept.length
    }
    for (const { system, messages } of model.requests) {
      longest = Math.max(longest, estimateTokens(system) + estimateMessages(messages))
      assert.ok(isPaired(messages))
    }
    assert.ok(longest <= window, `the longest request has ${longest} tokens`)

    assert.deepEqual(
      ledger,
      Array.from({ length: turns }, (_, turn) => turn),
    )
    assert.equal(await retrieveAny(session.runtime, "turn0"), 0)
    assert.equal(await retrieveAny(session.runtime, "turn199"), 199)

    const tiers = events.flatMap((event) => (event.type === "memory-compacted" ? [event.tier] : []))
    const failed = events.filter((event) => event.type === "warning-raised" && event.code === "summary-failed")
    assert.equal(failed.length, 3)
    // Three summaries failed, ten were not tried; then it works again.
    assert.equal(tiers.filter((tier) => tier === 3).length, 13)
    assert.ok(tiers.lastIndexOf(2) > tiers.lastIndexOf(3))

    // Messages from before and during the failures are in the summary, or word for word in a variable that it names.
    const part = session
      .messages()
      .map(summaryOf)
      .find((found) => found !== undefined)
    assert.deepEqual(part?.unread, [])
    const texts = await Promise.all(
      (part?.history ?? []).map(async (name) => String(await retrieveAny(session.runtime, name))),
    )
    const reachable = [part?.text, ...texts, ...session.messages().map(messageText)].join("\n")
    for (let turn = 0; turn < turns; turn++)
      assert.ok(reachable.includes(`Enter ${turn} in the ledger.`), `turn ${turn}`)
    for (let turn = 0; turn < turns; turn += 20) assert.ok(reachable.includes(`the code is K${turn}`))

    const replayed: Message[] = []
    for (const event of events) foldMessages(replayed, event)
    assert.deepEqual(replayed, session.messages())
    assert.equal(new Set(model.requests.map(({ system }) => system)).size, 1)
  })
})

describe("an agent's memory", () => {
  const steps = (count: number) => [
    ...Array.from({ length: count }, (_, step) => fence(`console.log("${step} ".repeat(400))`)),
    "Done.",
  ]
  const limits = { cycles: 100 }

  test("counts what a summary costs in the cycle's usage and against the budget", async () => {
    const usage = { input: 5000, output: 100, complete: true }
    const writer = scriptedModel(() => goodSummary(), { usage })
    const model = scriptedModel(steps(30), { contextWindow: 5000 })
    const agent = createAgent({ model, memory: { model: writer }, limits: { ...limits, tokens: 40_000 } })
    const run = agent.run("go")
    const ends: number[] = []
    let told = 0
    for await (const event of run) {
      if (event.type === "cycle-end") ends.push(event.usage.input ?? 0)
      if (event.type === "memory-compacted") told += event.usage.input ?? 0
    }
    const result = await run
    assert.equal(result.reason, "tokens")
    assert.ok(told >= 5000 && told === writer.requests.length * 5000)
    assert.ok(ends.some((input) => input > 5000))
    assert.equal(
      result.usage.input,
      ends.reduce((sum, input) => sum + input),
    )
  })

  test("makes the conversation shorter and asks once more when the provider refuses its length", async () => {
    const answers: ScriptedStep[] = [...steps(6).slice(0, 6), overflow(), "Done after all."]
    const model = scriptedModel(answers)
    const agent = createAgent({ model, memory: { model: scriptedModel(() => goodSummary()) }, limits })
    const events: AgentEvent[] = []
    const result = await agent.run("go", { onEvent: (event) => events.push(event) })
    assert.equal(result.output, "Done after all.")
    const [refused, shorter] = model.requests.slice(-2).map(({ messages }) => estimateMessages(messages))
    assert.ok((shorter ?? Infinity) < (refused ?? 0) / 2, `${refused} → ${shorter}`)
    assert.ok(events.some((event) => event.type === "memory-compacted"))
  })

  test("remembers where a provider refused, and stays below it", async () => {
    const small = (request: ModelRequest): ScriptedStep => {
      const tokens = estimateMessages(request.messages)
      if (tokens > 3000) return overflow()
      return request.messages.length > 2 && told++ > 30 ? "Done." : fence(`console.log("x ".repeat(400))`)
    }
    let told = 0
    const model = scriptedModel(small)
    const agent = createAgent({ model, memory: { model: scriptedModel(() => goodSummary()) }, limits })
    assert.equal((await agent.run("go")).output, "Done.")
    assert.equal(model.requests.filter(({ messages }) => estimateMessages(messages) > 3000).length, 1)
  })

  test("fails with the provider's error when it refuses twice, or nothing can be taken out", async () => {
    const twice = scriptedModel([...steps(6).slice(0, 6), overflow(), overflow()])
    const memory = { model: scriptedModel(() => goodSummary()) }
    await assert.rejects(async () => await createAgent({ model: twice, memory, limits }).run("go"), {
      code: "context-overflow",
    })
    assert.equal(twice.remaining, 0)
    const once = scriptedModel([overflow(), "never asked"])
    await assert.rejects(async () => await createAgent({ model: once, memory }).run("x ".repeat(5000)), {
      code: "context-overflow",
    })
    assert.equal(once.remaining, 1)
  })

  test("believes the provider's count more than its own estimate", async () => {
    const writer = scriptedModel(() => goodSummary())
    const run = async (input: number) => {
      const model = scriptedModel(steps(8), { contextWindow: 5000, usage: { input, output: 10, complete: true } })
      const { trajectory } = await createAgent({ model, memory: { model: writer, keepResults: 0 }, limits }).run("go")
      return trajectory.events.filter((event) => event.type === "memory-compacted").length
    }
    assert.equal(await run(50), 0)
    assert.ok((await run(4000)) > 0)
  })

  test("lets hooks see, begin otherwise and replace, one after the other", async () => {
    const seen: Compacted[] = []
    const note = (text: string): Message => ({
      id: text,
      role: "user",
      origin: "host",
      parts: [{ type: "text", text }],
    })
    const model = scriptedModel(steps(14), { contextWindow: 5000 })
    const agent = createAgent({
      model,
      memory: { model: scriptedModel(() => goodSummary()) },
      limits,
      hooks: [
        {
          afterCompact: ({ tier, messages }) => (tier === 2 ? [...messages, note("first")] : undefined),
          onCompact: (compacted) => void seen.push(compacted),
        },
        { afterCompact: async ({ tier, messages }) => (tier === 2 ? [...messages, note("second")] : undefined) },
      ],
    })
    const result = await agent.run("go")
    const second = seen.find(({ tier }) => tier === 2)
    assert.deepEqual(
      second?.messages.slice(-2).map((message) => message.id),
      ["first", "second"],
    )
    assert.ok(result.messages.some((message) => message.id === "second"))
    assert.ok((second?.replaced.length ?? 0) > 1)
  })

  test("begins with what `beforeCompact` gives", async () => {
    const model = scriptedModel(steps(14), { contextWindow: 5000 })
    const reasons: string[] = []
    const agent = createAgent({
      model,
      memory: { model: scriptedModel([]) },
      limits,
      hooks: {
        beforeCompact({ messages, reason, tokens, maxTokens: limit }) {
          reasons.push(reason)
          assert.ok(tokens > limit)
          return [...messages.slice(0, 1), ...messages.slice(-2)]
        },
      },
    })
    const result = await agent.run("go")
    assert.equal(result.output, "Done.")
    assert.ok(reasons.length > 0 && reasons.every((reason) => reason === "limit"))
    assert.ok(result.messages.length < 29)
    const tiers = result.trajectory.events.flatMap((event) => (event.type === "memory-compacted" ? [event.tier] : []))
    assert.deepEqual(new Set(tiers), new Set([1]))
  })

  test("goes on without a hook that throws or splits a pair, and tells it", async () => {
    for (const hooks of [
      { afterCompact: () => Promise.reject(new Error("no")) },
      { onCompact: () => Promise.reject(new Error("no")) },
      { afterCompact: ({ replaced }: Compacted) => replaced.filter((message) => message.role === "result") },
      { afterCompact: ({ messages }: Compacted) => [...messages, ...messages.slice(0, 1)] },
      { beforeCompact: () => Promise.reject(new Error("no")) },
      { beforeCompact: ({ messages }: { messages: readonly Message[] }) => messages.slice(-1) },
      ...[5, "text", [undefined], [{ id: "m", role: "user", parts: [{ type: "text" }] }]].flatMap((value) => [
        { beforeCompact: () => value as Message[] },
        { afterCompact: () => value as Message[] },
      ]),
    ]) {
      const model = scriptedModel(steps(14), { contextWindow: 5000 })
      const memory = { model: scriptedModel(() => goodSummary()) }
      const result = await createAgent({ model, memory, hooks, limits }).run("go")
      assert.equal(result.output, "Done.")
      assert.ok(isPaired(result.messages))
      assert.equal(new Set(result.messages.map(({ id }) => id)).size, result.messages.length)
      const warnings = result.trajectory.events.filter((event) => event.type === "warning-raised")
      assert.ok(warnings.length > 0)
    }
  })

  test("tells of an observer that fails once in a run, however often it does", async () => {
    let asked = 0
    const onCompact = () => {
      asked++
      throw new Error("no")
    }
    const model = scriptedModel(steps(14), { contextWindow: 3000 })
    const memory = { model: scriptedModel(() => goodSummary()) }
    const result = await createAgent({ model, memory, hooks: { onCompact }, limits }).run("go")
    assert.ok(asked > 1)
    assert.equal(result.trajectory.events.filter((event) => event.type === "warning-raised").length, 1)
  })

  test("says at once when an option is wrong", () => {
    assert.throws(() => createAgent({ model: scriptedModel([]), memory: { compactAtTokens: -1 } }), ConfigError)
  })

  test("goes on in a run from an earlier result, whose record folds by itself", async () => {
    const model = scriptedModel(() => "Yes. ".repeat(60), { contextWindow: 5000 })
    const agent = createAgent({ model, memory: { model: scriptedModel(() => goodSummary("- K1")) } })
    await using session = await agent.session()
    for (let turn = 0; turn < 30; turn++) {
      const { messages, trajectory } = await session.send(`${turn}: ${"tell me ".repeat(20)}`)
      // The trajectory of one run may start in the middle, but ends as the conversation does.
      assert.deepEqual(trajectory.messages.at(-1), messages.at(-1))
      const ids = new Set(messages.map(({ id }) => id))
      assert.ok(trajectory.messages.every(({ id }) => ids.has(id)))
    }
    assert.deepEqual(session.trajectory().messages, session.messages())
  })
})

test("`compact` of a run shortens the conversation before its first request, and only then", async () => {
  const print = fence('console.log("row ".repeat(400))')
  const answers = [...Array.from({ length: 8 }, () => [print, "Printed."]).flat()]
  const writer = scriptedModel([goodSummary("- rows were printed")])
  const model = scriptedModel([...answers, "Short.", "Still short."])
  const agent = createAgent({ model, runtime: () => jsRuntime(), memory: { model: writer } })
  await using session = await agent.session()
  for (let turn = 0; turn < 8; turn++) await session.send("Print")
  const before = estimateMessages(session.messages())
  const compacted = async (options?: { compact: boolean }) => {
    const { trajectory } = await session.send("Go on", options)
    return trajectory.events.findIndex((event) => event.type === "memory-compacted")
  }
  assert.ok((await compacted({ compact: true })) > 0)
  assert.ok(estimateMessages(session.messages()) < before)
  assert.equal(await compacted(), -1)
})
