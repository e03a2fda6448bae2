// test lane: durable, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AgentOptions, createAgent, jsRuntime, ModelError, messageText } from "karst"
import { createEngine, type Engine } from "karst/engine"
import { type Model, type ScriptedStep, scriptedModel } from "karst/models"
import { memoryStore, type Store } from "karst/stores"
import { askTool } from "karst/tools"

const runs = 40

describe("a run late in a long session", () => {
  test("reads and writes no more than an early one, where the conversation is made shorter", async () => {
    const { store, amounts } = counted(memoryStore())
    // Also a summary, where one is asked for.
    const text =
      "<summary>\n## Goals\n- go on\n## Decisions\n- none\n## Facts\n- none\n## Open work\n- more\n</summary>"
    const agent = createAgent({
      model: scriptedModel(() => `An answer: ${"because. ".repeat(20)}\n${text}`),
      memory: { compactAtTokens: 1_500 },
      tools: [askTool()],
      noTool: "answer",
    })
    await using engine = createEngine({ agents: { agent }, store })
    const used: number[] = []
    for (let run = 0; run < 4 * runs; run++) {
      const before = amounts.read + amounts.written
      await said(engine, `Question ${run}: ${"why? ".repeat(20)}`)
      used.push(amounts.read + amounts.written - before)
    }
    const around = (run: number) => used.slice(run - 10, run + 10).reduce((sum, each) => sum + each, 0)
    assert.ok(around(4 * runs - 10) < 1.5 * around(20), `${around(20)} bytes at run 20, ${around(4 * runs - 10)} later`)
  })

  test("reads few records beside the messages that the model is sent", async () => {
    const { store, amounts } = counted(memoryStore())
    const agent = createAgent({ model: answering() })
    await using engine = createEngine({ agents: { agent }, store })
    const used: number[] = []
    for (let run = 0; run < 2 * runs; run++) {
      const before = amounts.reads
      await said(engine, `Question ${run}`)
      used.push(amounts.reads - before)
    }
    const most = (from: number) => Math.max(...used.slice(from, from + 20))
    assert.ok(most(2 * runs - 20) < 2 * most(10), `${most(10)} reads at run 10, ${most(2 * runs - 20)} later`)
  })

  test("keeps one folded form of the conversation, and none once its runs are deleted", async () => {
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: createAgent({ model: answering() }) }, store })
    const ids: string[] = []
    for (let run = 0; run < 20; run++) ids.push((await said(engine, `Question ${run}`)).id)
    const folded = async () =>
      (await Array.fromAsync(store.keys("runs/"))).filter((key) => key.endsWith("/conversation"))
    assert.equal((await folded()).length, 1)
    for (const id of ids.reverse()) await engine.delete(id)
    assert.deepEqual(await folded(), [])
  })

  test("goes on when the run with the folded form of the conversation was deleted", async () => {
    const store = memoryStore()
    const model = answering()
    await using engine = createEngine({ agents: { agent: createAgent({ model }) }, store })
    const ids: string[] = []
    for (let run = 0; run < 20; run++) ids.push((await said(engine, `Question ${run}`)).id)
    const holds = async (id: string) => (await store.get(`runs/${id}/conversation`)) !== undefined
    let left = ids.length
    for (let removed = false; !removed; left--) {
      const id = ids[left - 1] ?? ""
      removed = await holds(id)
      await engine.delete(id)
    }
    const { messages } = await said(engine, "And now?")
    assert.deepEqual(
      messages.filter(({ role }) => role === "user").map((message) => firstLine(messageText(message))),
      [...Array.from({ length: left }, (_, run) => `Question ${run}`), "And now?"],
    )
  })

  test("can answer a sub-agent that asked in an early run", async () => {
    const painter = createAgent({
      noTool: "continue",
      name: "painter",
      tools: [askTool()],
      model: scriptedModel(({ messages }): ScriptedStep => {
        const heard = messages.filter(({ role }) => role === "user").map((message) => firstLine(messageText(message)))
        if (heard.length === 1) return call("ask", { question: "Which colour?" })
        return call("finish", { message: `heard: ${heard.join(", ")}` })
      }),
    })
    const lead = createAgent({
      agents: { painter },
      noTool: "answer",
      model: scriptedModel(({ messages }): ScriptedStep => {
        const last = messages.at(-1)
        if (last?.role === "result") return `The result: ${messageText(last)}`
        const heard = firstLine(messageText(last ?? { id: "", role: "user", parts: [], origin: "prompt" }))
        if (heard === "Paint") return call("delegate", { tasks: [{ agent: "painter", prompt: "Paint the wall" }] })
        if (heard === "Blue") return call("delegate", { tasks: [{ continue: "t1", prompt: "blue" }] })
        return `You said ${heard}.`
      }),
    })
    const store = memoryStore()
    await using engine = createEngine({ agents: { agent: lead }, store })
    const { id } = await engine.submit("agent", "Paint", { session: "s" })
    assert.equal((await engine.result(id)).status, "waiting")
    await engine.answer(id, "I do not know yet.")
    assert.equal((await engine.result(id)).status, "done")
    for (let run = 0; run < 12; run++) await said(engine, `Question ${run}`)
    assert.match((await said(engine, "Blue")).output, /heard: Paint the wall, blue/)
  })
})

describe("the model is sent the same with the folded form of a conversation as with all events", () => {
  for (const [seed, kept] of [
    [1, "with snapshots"],
    [2, "with snapshots"],
    [3, "with snapshots"],
    [4, "with snapshots"],
    [1, "without snapshots"],
    [2, "without snapshots"],
  ] as const) {
    test(`in a session of random runs, ${kept} of the objects (${seed})`, async () => {
      const [folded, whole] = await Promise.all([
        conversed(seed, memoryStore(), kept),
        conversed(seed, withoutFolded(memoryStore()), kept),
      ])
      assert.equal(folded.requests.length, whole.requests.length)
      for (const [index, request] of folded.requests.entries()) assert.equal(request, whole.requests[index])
      assert.deepEqual(folded.results, whole.results)
    })
  }
})

class Charts {
  #made = 0
  add(): number {
    return ++this.#made
  }
}

/** A session of random runs: cells that make, change and remove names, values that cannot be stored, injected objects
 *  whose state is lost, questions, failures that are retried, compactions, and an agent whose instructions change. Each
 *  engine works on a few runs, so that most begin from the store. */
async function conversed(seed: number, store: Store, kept: "with snapshots" | "without snapshots") {
  const random = randomFrom(seed)
  const requests: string[] = []
  const results: string[] = []
  let failing = false
  const answers = scriptedModel(({ messages }): ScriptedStep => {
    const last = messages.at(-1)
    const text = last ? messageText(last) : ""
    if (last?.role === "user" && text.startsWith("cell: ")) return `\`\`\`ts\n${firstLine(text).slice(6)}\n\`\`\`\n`
    if (last?.role === "user" && text.startsWith("ask")) return call("ask", { question: "Which?" })
    return `heard ${messages.length}. ${"word ".repeat(20)}`
  })
  const model: Model = {
    ...answers,
    async *stream(request) {
      const shown = [
        request.system ?? "",
        ...request.messages.map((message) => `${message.role}: ${messageText(message)}`),
      ]
      requests.push(withoutIds(shown.join("\n")))
      if (failing) throw new ModelError("Refused.", { code: "invalid-request" })
      yield* answers.stream(request)
    },
  }
  const options: AgentOptions = {
    model,
    tools: [askTool()],
    runtime: () => jsRuntime({ shared: { count: 0 }, charts: new Charts() }),
    memory: { compactAtTokens: 2_500 },
    noTool: "answer",
  }
  for (let part = 0; part < 6; part++) {
    const agent = createAgent({ ...options, instructions: `Version ${Math.floor(part / 2)}.` })
    const maxSnapshotBytes = kept === "with snapshots" ? {} : { maxSnapshotBytes: 10 }
    await using engine = createEngine({ agents: { agent }, store, ...maxSnapshotBytes })
    for (let run = 0; run < 6; run++) {
      const name = `v${Math.floor(random() * 5)}`
      const prompts = [
        `Question ${part}.${run}`,
        `cell: var ${name} = { at: ${run}, next: shared }; shared.count++; charts.add()`,
        `cell: var ${name} = new Proxy({}, {})`,
        `cell: delete globalThis.${name}`,
        "ask",
        "fail",
      ]
      const prompt = prompts[Math.floor(random() * prompts.length)] ?? ""
      failing = prompt === "fail"
      const { id } = await engine.submit("agent", prompt, { session: "s" })
      let result = await engine.result(id)
      failing = false
      if (result.status === "failed" && random() < 0.5) {
        await engine.retry(id)
        result = await engine.result(id)
      }
      if (result.status === "waiting") {
        await engine.answer(id, `answer ${run}`)
        result = await engine.result(id)
      }
      const shown = result.messages.map((message) => `${message.role}: ${messageText(message)}`)
      results.push(withoutIds([result.status, result.output, ...shown].join("\n")))
    }
  }
  return { requests, results }
}

// Ids and times are of each run alone.
const withoutIds = (text: string) =>
  text.replaceAll(/\b(?:m|c|r|run|call|s)_[\w-]+/g, "id").replaceAll(/\d{4}-\d\d-\d\d[^\s]*( \d\d:\d\d)?/g, "time")

async function said(engine: Engine<"agent">, prompt: string) {
  const { id } = await engine.submit("agent", prompt, { session: "s" })
  const result = await engine.result(id)
  assert.equal(result.status, "done", JSON.stringify(result.error))
  return result
}

function answering() {
  return scriptedModel(() => `An answer: ${"because. ".repeat(20)}`)
}

/** A store without folded conversations. */
function withoutFolded(store: Store): Store {
  return { ...store, get: async (key) => (key.endsWith("/conversation") ? undefined : await store.get(key)) }
}

function counted(inner: Store) {
  const amounts = { reads: 0, read: 0, written: 0 }
  const store: Store = {
    ...inner,
    async get(key) {
      const entry = await inner.get(key)
      amounts.reads++
      amounts.read += lengthOf(entry?.value)
      return entry
    },
    async *read(log, from) {
      amounts.reads++
      for await (const item of inner.read(log, from)) {
        amounts.read += lengthOf(item)
        yield item
      }
    },
    async commit(changes, guard, options) {
      amounts.written += lengthOf(changes)
      return await inner.commit(changes, guard, options)
    },
  }
  return { store, amounts }
}

const lengthOf = (value: unknown) => JSON.stringify(value ?? null).length

const firstLine = (text: string) => text.split("\n")[0] ?? ""

const call = (name: string, input: object): ScriptedStep => [
  { type: "tool-call", id: `call_${Math.random()}`, name, input: input as never },
]

function randomFrom(seed: number): () => number {
  let state = seed * 2654435761
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0
    return state / 2 ** 32
  }
}
