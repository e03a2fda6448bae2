// test lane: durable
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent, tool } from "karst"
import { createEngine, inlineBackend } from "karst/engine"
import { type ModelPart, scriptedModel } from "karst/models"
import { memoryStore, type Store, sqliteStore } from "karst/stores"
import { askTool } from "karst/tools"
import * as z from "zod"
import { call, calls, finish, resultsIn } from "../../agent/tool-call-helpers.ts"
import { untilOlder } from "../../waiting.ts"

const report = tool({
  name: "report",
  description: "The figures of a month.",
  input: z.object({ month: z.string() }),
  run: ({ month }) => text(month),
})

const text = (month: string) => `${month} `.repeat(3000)

/** A model that answers with the steps of a conversation in order, in any process. */
function steps(...answers: ModelPart[][]) {
  return scriptedModel(({ messages }) => answers[messages.filter(({ role }) => role === "assistant").length] ?? [])
}

const read = (name: string) => call("read_artifact", { name })

describe("the artifacts of a durable run", () => {
  for (const kind of ["memory", "sqlite"] as const) {
    test(`are there after an answer that another worker goes on from (${kind})`, async () => {
      await using stores = await openStores(kind)
      const agent = createAgent({
        noTool: "continue",
        model: steps(
          calls(call("report", { month: "May" })),
          calls(call("ask", { question: "Go on?" })),
          calls(call("report", { month: "June" })),
          calls(read("_output_1"), read("_output_2")),
          calls(finish()),
        ),
        tools: [report],
      })
      const first = createEngine({ agents: { agent }, store: stores.first })
      const { id } = await first.submit("agent", "Compare")
      assert.equal((await first.result(id)).status, "waiting")
      await first.close()

      await using second = createEngine({ agents: { agent }, store: stores.second })
      await second.answer(id, "Yes.")
      const { status, messages } = await second.result(id)
      assert.equal(status, "done")
      const results = resultsIn(messages)
      assert.deepEqual(
        results.flatMap(({ kept }) => kept ?? []),
        ["_output_1", "_output_2"],
      )
      assert.deepEqual(readBack(results), ["May", "June"])
    })
  }

  test("are there after a drain, for the worker that goes on with the run", async () => {
    const store = memoryStore()
    const leave = tool({ name: "leave", description: "", run: () => void first.drain() })
    const agent = createAgent({
      noTool: "continue",
      model: steps(
        calls(call("report", { month: "May" }), call("leave")),
        calls(call("report", { month: "June" }), read("_output_1"), read("_output_2")),
        calls(finish()),
      ),
      tools: [report, leave],
    })
    const first = createEngine({ agents: { agent }, store })
    const { id } = await first.submit("agent", "Compare")
    while ((await first.get(id))?.cycles !== 1) await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    assert.equal((await first.get(id))?.status, "queued")
    await using second = createEngine({ agents: { agent }, store })
    await second.recover()
    assert.deepEqual(readBack(resultsIn((await second.result(id)).messages)), ["May", "June"])
  })

  test("are there after a restart for texts that memory took out, too", async () => {
    const store = memoryStore()
    const months = ["January", "February", "March", "April", "May", "June"]
    const facts = tool({
      name: "facts",
      description: "Facts of a month.",
      input: z.object({ month: z.string() }),
      run: ({ month }) => `${month} fact. `.repeat(60),
    })
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel([
        ...months.map((month) => calls(call("facts", { month }))),
        calls(call("ask", { question: "Go on?" })),
        calls(read("_history_1")),
        calls(finish()),
      ]),
      tools: [facts],
      memory: { compactAtTokens: 900, keepResults: 1, model: scriptedModel(() => "no summary") },
      limits: { cycles: 20 },
    })
    const first = createEngine({ agents: { agent }, store })
    const { id } = await first.submit("agent", "Compare")
    const waiting = await first.result(id)
    assert.match(JSON.stringify(waiting.messages), /_history_1/)
    await first.close()

    await using second = createEngine({ agents: { agent }, store })
    await second.answer(id, "Yes.")
    const { messages } = await second.result(id)
    assert.match(
      resultsIn(messages).find(({ name }) => name === "read_artifact")?.text ?? "",
      /facts \{"month":"January"\}/,
    )
  })

  test("are those of the call that counts when a cycle is run again", async () => {
    const store = memoryStore()
    const month = ["May", "June"].values()
    const today = tool({ name: "today", description: "", sideEffect: false, run: () => text(month.next().value ?? "") })
    const wipe = tool({ name: "wipe", description: "", approve: true, run: () => "Wiped." })
    const agent = createAgent({
      noTool: "continue",
      model: steps(calls(call("today"), call("wipe")), calls(read("_output_1")), calls(finish())),
      tools: [today, wipe],
    })
    const first = createEngine({ agents: { agent }, store, holdMs: 0 })
    const { id } = await first.submit("agent", "Go")
    const { pending } = await first.result(id)
    await first.close()
    await using second = createEngine({ agents: { agent }, store, holdMs: 0 })
    await second.approve(id, pending?.id ?? "", "allow")
    const results = resultsIn((await second.result(id)).messages)
    assert.match(results[0]?.text ?? "", /^June/)
    assert.deepEqual(readBack(results), ["June"])
  })

  test("are read by later runs of the same session, which number theirs on", async () => {
    const store = memoryStore()
    const agent = createAgent({
      noTool: "continue",
      model: steps(
        calls(call("report", { month: "May" }), finish()),
        calls(call("report", { month: "June" }), read("_output_1"), read("_output_2"), finish()),
      ),
      tools: [report],
    })
    for (const prompt of ["First", "Second"]) {
      await using engine = createEngine({ agents: { agent }, store })
      const { id } = await engine.submit("agent", prompt, { session: "s" })
      const { messages } = await engine.result(id)
      if (prompt === "Second") assert.deepEqual(readBack(resultsIn(messages)), ["May", "June"])
    }
  })

  test("of a cycle that failed are read by later runs of the session, which number theirs on", async () => {
    let isBroken = false
    const agent = createAgent({
      noTool: "continue",
      model: steps(
        calls(call("report", { month: "May" }), finish()),
        calls(call("report", { month: "June" })),
        calls(call("report", { month: "July" }), finish()),
        calls(read("_output_1"), read("_output_2"), read("_output_3"), finish()),
      ),
      tools: [report],
      hooks: [{ afterCycle: () => assert.ok(!isBroken) }],
    })
    const store = memoryStore()
    for (const prompt of ["First", "broken", "Third", "Fourth"]) {
      await using engine = createEngine({ agents: { agent }, store })
      isBroken = prompt === "broken"
      const { id } = await engine.submit("agent", prompt, { session: "s" })
      const { status, messages } = await engine.result(id)
      assert.equal(status, isBroken ? "failed" : "done")
      if (prompt === "Fourth") assert.deepEqual(readBack(resultsIn(messages)), ["May", "June", "July"])
    }
  })

  test("are removed with their run", async () => {
    const store = memoryStore()
    const agent = createAgent({
      noTool: "continue",
      model: scriptedModel(() => calls(call("report", { month: "May" }), finish())),
      tools: [report],
    })
    await using engine = createEngine({ agents: { agent }, store })
    const [one, other] = [await engine.submit("agent", "One"), await engine.submit("agent", "Other")]
    await Promise.all([engine.result(one.id), engine.result(other.id)])
    assert.equal((await holding(store, "artifacts")).length, 2)
    await engine.delete(one.id)
    assert.equal((await holding(store, "artifacts")).length, 1)
    await untilOlder()
    await engine.prune({ olderThanMs: 0 })
    assert.deepEqual(await holding(store, "runs/"), [])
  })

  test("of a sub-agent that asks are there when the answer comes after a restart, and so is its state", async () => {
    const store = memoryStore()
    const count = tool({
      name: "count",
      description: "Counts.",
      run: (_input, { state }) => {
        const next = Number(state.get("count") ?? 0) + 1
        state.set("count", next)
        return `Counted ${next}.`
      },
    })
    const clerk = createAgent({
      noTool: "continue",
      name: "clerk",
      model: steps(
        calls(call("report", { month: "May" }), call("count")),
        calls(call("ask", { question: "Go on?" })),
        calls(call("report", { month: "June" }), call("count"), read("_output_1"), read("_output_2")),
        calls(finish("Compared.")),
      ),
      tools: [report, count, askTool()],
    })
    const lead = createAgent({
      noTool: "continue",
      agents: { clerk },
      model: steps(
        calls(call("delegate", { tasks: [{ agent: "clerk", prompt: "Compare" }] })),
        calls(call("delegate", { tasks: [{ continue: "t1", prompt: "Yes." }] })),
        calls(finish()),
      ),
    })
    const first = createEngine({ agents: { lead }, store })
    const { id } = await first.submit("lead", "Go")
    assert.equal((await first.result(id)).status, "waiting")
    await first.close()
    await using second = createEngine({ agents: { lead }, store })
    await second.answer(id, "Yes.")
    const { trajectory, status } = await second.result(id)
    assert.equal(status, "done")
    const ends = trajectory.events.flatMap((event) => (event.type === "tool-end" ? [event] : []))
    assert.deepEqual(
      ends.filter(({ name }) => name === "count").map((event) => event.text),
      ["Counted 1.", "Counted 2."],
    )
    const reads = trajectory.events.flatMap((event) => (event.type === "tool-start" ? [event] : []))
    const texts = reads
      .filter(({ name }) => name === "read_artifact")
      .map(
        ({ id }) =>
          ends
            .find((end) => end.id === id)
            ?.text.replace(/^\[read_artifact .*\]\n/, "")
            .split(" ")[0],
      )
    assert.deepEqual(texts, ["May", "June"])
  })

  test("of parallel calls have the same names when the cycle of a sub-agent is run again", async () => {
    const store = memoryStore()
    const names: string[][] = []
    let isAgain = false
    let { promise, resolve } = Promise.withResolvers<void>()
    // The two calls end in another order when they are made again.
    const month = (name: string, isLast: () => boolean) =>
      tool({
        name,
        description: "",
        sideEffect: false,
        parallel: true,
        async run() {
          if (isLast()) await promise
          return text(name)
        },
      })
    const wipe = tool({ name: "wipe", description: "", approve: true, run: () => "Wiped." })
    const clerk = createAgent({
      noTool: "continue",
      name: "clerk",
      model: steps(calls(call("May"), call("June")), calls(call("wipe")), calls(finish())),
      tools: [month("May", () => !isAgain), month("June", () => isAgain), wipe],
      onEvent(event) {
        if (event.type === "run-start") names.push([])
        if (event.type === "tool-end") resolve()
        if (event.type === "tool-end" && event.kept) names.at(-1)?.push(`${event.name} ${event.kept}`)
      },
    })
    const lead = createAgent({
      noTool: "continue",
      agents: { clerk },
      model: steps(calls(call("delegate", { tasks: [{ agent: "clerk", prompt: "Compare" }] })), calls(finish())),
    })
    const one = createEngine({ agents: { lead }, store, holdMs: 0 })
    const { id } = await one.submit("lead", "Go")
    const { pending } = await one.result(id)
    await one.close()
    isAgain = true
    ;({ promise, resolve } = Promise.withResolvers<void>())
    await using two = createEngine({ agents: { lead }, store, holdMs: 0 })
    await two.approve(id, pending?.id ?? "", "allow")
    assert.equal((await two.result(id)).status, "done")
    assert.deepEqual(names, [
      ["June _output_p2_1", "May _output_1"],
      ["May _output_1", "June _output_p2_1"],
    ])
  })

  test("are not stored where the run was lost to another worker", async () => {
    const kept = memoryStore()
    let isAway = false
    const store: Store = {
      ...kept,
      commit: (...given) => (isAway ? Promise.reject(new Error("away")) : kept.commit(...given)),
    }
    const cut = tool({
      name: "cut",
      description: "",
      idempotent: true,
      run() {
        isAway = true
        return text("May")
      },
    })
    const agent = createAgent({ noTool: "continue", model: steps(calls(call("cut")), calls(finish())), tools: [cut] })
    const first = createEngine({ agents: { agent }, store, leaseMs: 50, backend: inlineBackend({ onError() {} }) })
    await first.submit("agent", "Go")
    await first.work()
    while (!isAway) await new Promise((resolve) => setImmediate(resolve))
    await first.close()
    assert.deepEqual(await holding(kept, "artifacts"), [])
  })
})

/** The first word of each text that was read back. */
function readBack(results: readonly { name: string; text: string }[]): (string | undefined)[] {
  return results
    .filter(({ name }) => name === "read_artifact")
    .map((result) => result.text.replace(/^\[read_artifact .*\]\n/, "").split(" ")[0])
}

async function holding(store: Store, part: string): Promise<string[]> {
  return (await Array.fromAsync(store.keys(""))).filter((key) => key.includes(part))
}

async function openStores(kind: "memory" | "sqlite"): Promise<{ first: Store; second: Store } & AsyncDisposable> {
  if (kind === "memory") {
    const store = memoryStore()
    return { first: store, second: store, [Symbol.asyncDispose]: () => store.close() }
  }
  const folder = await mkdtemp(join(tmpdir(), "karst-artifacts-"))
  const [first, second] = [sqliteStore(join(folder, "karst.db")), sqliteStore(join(folder, "karst.db"))]
  return {
    first,
    second,
    async [Symbol.asyncDispose]() {
      await first.close()
      await second.close()
      await rm(folder, { recursive: true })
    },
  }
}
