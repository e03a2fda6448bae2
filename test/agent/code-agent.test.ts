import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { clockText } from "../../src/agent/prompt/system-prompt.ts"
import { ConfigError } from "../../src/core/errors.ts"
import type { AgentEvent } from "../../src/core/event.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"

const cell = (code: string) => `Let me see.\n\`\`\`ts\n${code}\n\`\`\`\n`

const types = (events: AgentEvent[]) => events.map((event) => event.type)

/** Every event type except deltas, whose number depends on how the text was cut. */
const story = (events: AgentEvent[]) => types(events).filter((type) => !type.endsWith("-delta"))

class Light {
  brightness = 100
  dim(level: number) {
    this.brightness = level
  }
}

describe("a code agent", () => {
  test("changes the caller's own object and says so", async () => {
    const light = new Light()
    const model = scriptedModel([cell("light.dim(20)"), "Dimmed to 20 %."])
    const result = await createAgent({ model, runtime: jsRuntime({ light }) }).run("Dim the light")
    assert.equal(light.brightness, 20)
    assert.equal(result.output, "Dimmed to 20 %.")
    assert.equal(result.status, "done")
    assert.equal(result.cycles, 2)
  })

  test("answers at once when no code is needed", async () => {
    const result = await createAgent({ model: scriptedModel(["Paris."]) }).run("Capital of France?")
    assert.equal(result.output, "Paris.")
    assert.equal(result.cycles, 1)
  })

  test("tells its story in order: start, cycles, code, result, answer, end", async () => {
    const agent = createAgent({ model: scriptedModel([cell("1 + 1"), "Two."]) })
    assert.deepEqual(story(await Array.fromAsync(agent.run("1 + 1?"))), [
      "run-start",
      "cycle-start",
      "code-start",
      "message-end",
      "code-end",
      "cycle-end",
      "cycle-start",
      "message-end",
      "cycle-end",
      "run-end",
    ])
  })

  test("gives the model back what a cell printed and the value of its last expression", async () => {
    const model = scriptedModel([cell('console.log("hello")\n6 * 7'), "Done."])
    await createAgent({ model }).run("go")
    const last = model.requests[1]?.messages.at(-1)
    assert.deepEqual(last?.parts, [
      {
        type: "code-result",
        id: codeId(model.requests[1]?.messages ?? []),
        ok: true,
        text: "<output>\nhello\n42\n</output>",
      },
    ])
  })

  test("gives the model the error with its line, and goes on", async () => {
    const model = scriptedModel([cell("const a = 1\nnull.x"), cell("a"), "Mended."])
    const events = await Array.fromAsync(createAgent({ model }).run("go"))
    const ends = events.filter((event) => event.type === "code-end")
    assert.equal(ends[0]?.ok, false)
    assert.equal(ends[0]?.error?.kind, "throw")
    assert.equal(ends[0]?.error?.line, 2)
    assert.match(ends[0]?.text ?? "", /TypeError: .*null/)
    assert.match(ends[1]?.text ?? "", /1/)
  })

  test("does the same whether it is awaited or read, at any chunk size", async () => {
    const answers = [cell("let total = 0\nfor (const n of [1, 2, 3]) total += n\ntotal"), "Six 😀."]
    const outcomes = []
    for (const chunk of [1, 13, 10_000]) {
      const agent = createAgent({ model: scriptedModel(answers, { chunkChars: chunk }), now: () => 0 })
      const events = await Array.fromAsync(agent.run("sum"))
      const awaited = await createAgent({ model: scriptedModel(answers, { chunkChars: chunk }), now: () => 0 }).run(
        "sum",
      )
      outcomes.push({
        story: story(events),
        output: awaited.output,
        cycles: awaited.cycles,
        texts: texts(awaited.messages),
      })
    }
    assert.deepEqual(outcomes[0], outcomes[1])
    assert.deepEqual(outcomes[1], outcomes[2])
    assert.equal(outcomes[0]?.output, "Six 😀.")
  })

  test("runs only the first of two blocks and records the turn up to its fence", async () => {
    for (const chunk of [1, 13, 10_000]) {
      const ran: string[] = []
      const runtime = jsRuntime({ note: fn((what: string) => void ran.push(what), { sync: true }) })
      const model = scriptedModel(['```ts\nnote("one")\n```\nimagined\n```ts\nnote("two")\n```\n', "ok"], {
        chunkChars: chunk,
      })
      const result = await createAgent({ model, runtime }).run("go")
      assert.deepEqual(ran, ["one"])
      assert.equal(JSON.stringify(result.messages).includes("imagined"), false)
    }
  })

  test("never runs a block that was not closed, and asks for it again", async () => {
    const ran: string[] = []
    const runtime = jsRuntime({ note: fn((what: string) => void ran.push(what), { sync: true }) })
    const model = scriptedModel(['```ts\nnote("danger")', cell('note("safe")'), "ok"])
    const result = await createAgent({ model, runtime }).run("go")
    assert.deepEqual(ran, ["safe"])
    assert.equal(result.status, "done")
    const refusal = model.requests[1]?.messages.at(-1)?.parts[0]
    assert.match(refusal?.type === "code-result" ? refusal.text : "", /never closed/)
  })

  test("keeps names from cell to cell, and the run's runtime can be asked for them", async () => {
    const model = scriptedModel([
      cell("const prices = [3, 1, 2]"),
      cell("prices.sort()\nconst cheapest = prices[0]"),
      "1",
    ])
    const run = createAgent({ model }).run("cheapest?")
    await run
    assert.equal(await run.runtime?.retrieve("cheapest"), 1)
  })

  test("gives two runs two conversations, on one runtime when it is an instance", async () => {
    const runtime = jsRuntime({ count: variable(0) })
    const model = scriptedModel([cell("count += 1"), "one", cell("count += 1"), "two"])
    const agent = createAgent({ model, runtime })
    await agent.run("first")
    const second = await agent.run("second")
    assert.equal(await runtime.retrieve("count"), 2)
    assert.equal(texts(second.messages).includes("first"), false)
    assert.equal(agent.runtime, runtime)
  })

  test("gives each run its own runtime when it is a factory", async () => {
    const model = scriptedModel([cell("const mine = 1"), "ok", cell("typeof mine"), "ok"])
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    await agent.run("first")
    await agent.run("second")
    assert.equal(agent.runtime, undefined)
    const seen = model.requests[3]?.messages.at(-1)?.parts[0]
    assert.match(seen?.type === "code-result" ? seen.text : "", /undefined/)
  })

  test("closes a factory's runtime with the run it was made for", async () => {
    const made: ReturnType<typeof jsRuntime>[] = []
    const factory = () => {
      const runtime = jsRuntime()
      made.push(runtime)
      return runtime
    }
    {
      await using run = createAgent({ model: scriptedModel(["ok"]), runtime: factory }).run("go")
      await run
    }
    await assert.rejects(async () => await made[0]?.names(), /closed/)
  })

  test("goes on from an earlier result with its messages and its runtime", async () => {
    const model = scriptedModel([cell("const kept = 7"), "ok", cell("kept"), "7"])
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    const first = await agent.run("keep 7")
    const second = await agent.run("what was it?", { from: first })
    assert.match(texts(second.messages), /keep 7[\s\S]*what was it\?/)
    const seen = model.requests[3]?.messages.at(-1)?.parts[0]
    assert.match(seen?.type === "code-result" ? seen.text : "", /7/)
  })

  test("goes on from a result that was stored as JSON", async () => {
    const model = scriptedModel(["Noted.", "You said blue."])
    const agent = createAgent({ model })
    const first = await agent.run("My colour is blue")
    const second = await agent.run("Which?", { from: JSON.parse(JSON.stringify(first)) })
    assert.match(texts(second.messages), /blue[\s\S]*Which\?/)
  })

  test("starts from the messages it was given", async () => {
    const model = scriptedModel(["ok"])
    const earlier = (await createAgent({ model: scriptedModel(["Hello Ann."]) }).run("I am Ann")).messages
    await createAgent({ model, messages: earlier }).run("Who am I?")
    assert.match(texts([...(model.requests[0]?.messages ?? [])]), /I am Ann[\s\S]*Who am I\?/)
  })

  test("does not change under you: `with` gives another agent", async () => {
    const model = scriptedModel(["a", "b"])
    const agent = createAgent({ model, instructions: "Be brief." })
    const other = agent.with({ instructions: "Be long." })
    assert.match(await agent.describe(), /Be brief\./)
    assert.match(await other.describe(), /Be long\./)
    await agent.run("x", { instructions: "Be odd." })
    assert.match(model.requests[0]?.system ?? "", /Be odd\./)
    assert.match(await agent.describe(), /Be brief\./)
  })

  test("puts braces in instructions into the prompt untouched", async () => {
    const instructions = 'Answer as {"json": {value}} and $& $1 %s'
    assert.ok((await createAgent({ model: scriptedModel([]), instructions }).describe()).includes(instructions))
  })

  test("lets a section of the prompt be replaced by a function", async () => {
    const agent = createAgent({
      model: scriptedModel([]),
      prompt: { rules: ({ tag }) => `Write ${tag}, nothing else.` },
    })
    const text = await agent.describe()
    assert.match(text, /Write ts, nothing else\./)
    assert.doesNotMatch(text, /How you work/)
  })

  test("describes exactly what the model sees", async () => {
    const model = scriptedModel(["ok"])
    const agent = createAgent({ model, runtime: jsRuntime({ rate: variable(3, "Euros an hour") }) })
    await agent.run("go")
    assert.equal(await agent.describe(), model.requests[0]?.system)
    assert.match(model.requests[0]?.system ?? "", /Euros an hour/)
  })

  test("shows the model declarations and never values", async () => {
    const model = scriptedModel(["ok"])
    const runtime = jsRuntime({ secret: variable("hunter2", "A password"), rows: [{ name: "Zaphod", age: 42 }] })
    await createAgent({ model, runtime }).run("go")
    assert.doesNotMatch(model.requests[0]?.system ?? "", /hunter2|Zaphod|42/)
  })

  test("mentions the cell time-out in the prompt only when there is one", async () => {
    assert.doesNotMatch(await createAgent({ model: scriptedModel([]) }).describe(), /seconds/)
    assert.match(await createAgent({ model: scriptedModel([]), cellTimeoutMs: 2500 }).describe(), /2\.5 seconds/)
  })

  test("the prompt says what becomes of a cell that fails, and whether cells are checked", async () => {
    const plain = await createAgent({ model: scriptedModel([]) }).describe()
    assert.match(plain, /what ran before the error has happened/)
    assert.match(plain, /Types are not checked/)
    const careful = createAgent({ model: scriptedModel([]), transaction: true, typeGate: "block" })
    assert.match(await careful.describe(), /A failed cell is rolled back/)
    assert.doesNotMatch(await careful.describe(), /has happened/)
    assert.match(await careful.describe(), /A cell with a type error does not run/)
  })

  test("stops a cell that is out of time and tells the model", async () => {
    const model = scriptedModel([cell("while (true) {}"), "It took too long."])
    const events = await Array.fromAsync(createAgent({ model, cellTimeoutMs: 50 }).run("go"))
    const end = events.find((event) => event.type === "code-end")
    assert.equal(end?.error?.kind, "timeout")
    assert.match(end?.text ?? "", /50 ms|0\.05 s/)
  })

  test("asks for and accepts another fence tag", async () => {
    const model = scriptedModel(["```karst\n1 + 1\n```", "```ts\nnot code\n```"])
    const result = await createAgent({ model, fence: "karst" }).run("go")
    assert.match(model.requests[0]?.system ?? "", /```karst/)
    assert.equal(result.output, "```ts\nnot code\n```")
    assert.equal(result.cycles, 2)
  })

  test("puts the time at the end of each prompt, where it stays the same for later runs, and never stores it", async () => {
    const model = scriptedModel([cell("1"), "ok"])
    const now = new Date(Date.UTC(2026, 0, 2, 3, 4))
    const result = await createAgent({ model, now: () => now.getTime() }).run("go")
    for (const request of model.requests) {
      const prompt = request.messages.find((message) => message.role === "user")
      assert.deepEqual(prompt?.parts.at(-1), { type: "text", text: clockText(now) })
    }
    assert.doesNotMatch(JSON.stringify(result), /It is /)
  })

  test("sends earlier prompts as they were, with their times, so that prompt caches hit", async () => {
    let minute = 0
    const now = () => Date.UTC(2026, 0, 2, 3, minute)
    const model = scriptedModel([cell("1"), "one", "two", "three"])
    const archive = memoryStore()
    const agent = createAgent({ model, now })
    const session = await agent.session({ id: "times", archive })
    await session.send("first")
    minute = 5
    await session.send("second")
    await session.close()
    minute = 9
    await using resumed = await agent.session({ id: "times", archive })
    await resumed.send("third")
    const sent = model.requests.map(({ messages }) => messages)
    for (const [index, messages] of sent.slice(1).entries())
      assert.deepEqual(messages.slice(0, sent[index]?.length), sent[index])
    assert.match(JSON.stringify(sent.at(-1)), /first.*03:00.*second.*03:05.*third.*03:09/)
  })

  test("asks again when the model says nothing at all", async () => {
    const model = scriptedModel(["", "Here I am."])
    const result = await createAgent({ model }).run("hello?")
    assert.equal(result.output, "Here I am.")
    assert.equal(result.cycles, 2)
    assert.equal(result.messages.filter((message) => message.role === "assistant").length, 1)
  })

  test("hears what is said while it works, before its next cycle", async () => {
    const { promise: started, resolve } = Promise.withResolvers<void>()
    const model = scriptedModel([cell("await wait()"), "Turned left."])
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const runtime = jsRuntime({
      wait: () => {
        resolve()
        return gate
      },
    })
    const run = createAgent({ model, runtime }).run("drive")
    await started
    run.steer("turn left")
    open()
    const result = await run
    assert.match(texts(model.requests[1]?.messages ?? []), /turn left/)
    assert.equal(result.trajectory.events.filter((event) => event.type === "prompt-steered").length, 1)
  })

  test("goes on when something is said while it gives its answer", async () => {
    const model = scriptedModel([
      () => {
        run.steer("and then?")
        return "Done."
      },
      "More done.",
    ])
    const run = createAgent({ model }).run("go")
    assert.equal((await run).output, "More done.")
  })

  test("merges metadata of agent, session and run into the trajectory, in that order", async () => {
    const agent = createAgent({ model: scriptedModel(["ok"]), metadata: { a: 1, b: 1, c: 1 } })
    await using session = await agent.session({ metadata: { b: 2, c: 2 } })
    const result = await session.send("go", { metadata: { c: 3 } })
    assert.deepEqual(result.trajectory.metadata, { a: 1, b: 2, c: 3 })
  })

  test("refuses options that cannot work, where they are written", () => {
    const model = scriptedModel([])
    assert.throws(() => createAgent({ model, maxOutputChars: -1 }), ConfigError)
    assert.throws(() => createAgent({ model, fence: "a b" }), ConfigError)
    assert.throws(() => createAgent({ model, limits: { cycles: Number.NaN } }), ConfigError)
    assert.throws(() => createAgent({ model, limits: { costUsd: 1 } }), /price of .* is not known/)
    assert.throws(() => createAgent({ model }).run("x", { cellTimeoutMs: 0 }), ConfigError)
  })

  test("warns of a tool call it cannot make and goes on", async () => {
    const model = scriptedModel([
      [
        { type: "tool-call", id: "t", name: "search", input: {} },
        { type: "text", text: "Fine." },
        { type: "finish", reason: "stop", usage: { input: 1, output: 1, complete: true } },
      ],
    ])
    const events = await Array.fromAsync(createAgent({ model }).run("go"))
    assert.ok(events.some((event) => event.type === "warning-raised" && event.code === "unknown-tool"))
    assert.equal(events.at(-1)?.type === "run-end" && events.at(-1)?.type, "run-end")
  })

  test("warns when the conversation is about to fill the model's window", async () => {
    const model = scriptedModel([cell("1"), "ok"])
    const events = await Array.fromAsync(createAgent({ model, contextWindow: 300 }).run("go"))
    assert.ok(events.some((event) => event.type === "warning-raised" && event.code === "context-nearly-full"))
  })
})

function texts(messages: readonly { parts: readonly { type: string; text?: string }[] }[]): string {
  return messages.flatMap((message) => message.parts.map((part) => part.text ?? "")).join("\n")
}

function codeId(messages: readonly { parts: readonly { type: string; id?: string }[] }[]): string {
  return messages.flatMap((message) => message.parts).find((part) => part.type === "code")?.id ?? ""
}
