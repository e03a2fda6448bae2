// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Message, messageText } from "karst"
import { createEngine, inlineBackend, type Job } from "karst/engine"
import { type ScriptedStep, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { askTool } from "karst/tools"
import { queuedMarkerKey } from "../../src/engine/checkpoint.ts"
import fc from "../property.ts"
import { waitUntil } from "../providers/cli-machines.ts"
import { untilOlder } from "../waiting.ts"

describe("the runs of one session", () => {
  test("go on after a wait with all that was said before", async () => {
    const store = memoryStore()
    const { agent, requests } = listener()
    const first = createEngine({ agents: { agent }, store })
    await first.result((await first.submit("agent", "My name is Ada.", { session: "s" })).id)
    const { id } = await first.submit("agent", "ask me", { session: "s" })
    assert.equal((await first.result(id)).status, "waiting")
    await first.close()
    await using second = createEngine({ agents: { agent }, store })
    await second.answer(id, "blue")
    const result = await second.result(id)
    assert.match(result.output, /^heard: My name is Ada\. \| ask me \| blue$/)
    assert.equal(new Set(requests().map(({ system }) => system)).size, 1)
  })

  test("go on when the job of the next one could not be pushed at first", async () => {
    const { agent } = listener()
    const queue = inlineBackend({ onError: () => undefined })
    let pushes = 0
    const push = async (job: Job) => {
      // The third push comes at the end of the first run.
      if (++pushes === 3) throw new Error("The queue is out of reach.")
      await queue.push(job)
    }
    const backend = { ...queue, push, isShared: true }
    await using engine = createEngine({ agents: { agent }, store: memoryStore(), backend })
    await engine.submit("agent", "One", { session: "s" })
    const { id } = await engine.submit("agent", "Two", { session: "s" })
    await engine.work()
    assert.equal((await engine.result(id)).status, "done")
    assert.equal(pushes, 4)
  })

  test("give the whole conversation in each result, and their own events in the trajectory", async () => {
    const { agent } = listener()
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    await engine.result((await engine.submit("agent", "One", { session: "s" })).id)
    const { messages, trajectory } = await engine.result((await engine.submit("agent", "Two", { session: "s" })).id)
    assert.equal(messages.length, 4)
    assert.equal(trajectory.runs.length, 1)
  })

  test("keep their order when a queued one is aborted, and go on from the last one that began", async () => {
    const gate = Promise.withResolvers<void>()
    const model = scriptedModel(async ({ messages }): Promise<ScriptedStep> => {
      const heard = messages.filter(({ role }) => role === "user").map((message) => messageText(message).split("\n")[0])
      if (heard.at(-1) === "a" && messages.at(-1)?.role === "user") return "```ts\nconst best = 'May'\n```\n"
      if (heard.at(-1) === "a") await gate.promise
      if (heard.at(-1) === "d" && messages.at(-1)?.role === "user") return "```ts\nbest\n```\n"
      return `heard: ${heard.join(" | ")}`
    })
    const agent = createAgent({ model, runtime: () => jsRuntime() })
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const submit = async (prompt: string) => (await engine.submit("agent", prompt, { session: "s" })).id
    const [a, b, c, d] = [await submit("a"), await submit("b"), await submit("c"), await submit("d")]
    await waitUntil("the first run is under way", () => model.requests.length === 2)
    await engine.abort(b, "not needed")
    await engine.abort(c)
    // A worker that looks for work at this moment must not take the last one either.
    await engine.recover()
    assert.deepEqual([(await engine.get(a))?.status, (await engine.get(d))?.status], ["running", "queued"])
    assert.equal(model.requests.length, 2)
    gate.resolve()
    const result = await engine.result(d)
    assert.equal(result.output, "heard: a | d")
    assert.match(JSON.stringify(result.messages), /May/, "with the objects of the first")
    assert.equal(new Set(model.requests.map(({ system }) => system)).size, 1)
    const statuses = await Promise.all([a, b, c, d].map(async (id) => (await engine.get(id))?.status))
    assert.deepEqual(statuses, ["done", "aborted", "aborted", "done"])
  })

  test("do not begin while the one before them waits for an answer", async () => {
    const { agent, requests } = listener()
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const [asking, later] = [
      (await engine.submit("agent", "ask me", { session: "s" })).id,
      (await engine.submit("agent", "later", { session: "s" })).id,
    ]
    assert.equal((await engine.result(asking)).status, "waiting")
    await engine.recover()
    assert.equal((await engine.get(later))?.status, "queued")
    assert.equal(requests().length, 1)
    await engine.answer(asking, "blue")
    assert.equal((await engine.result(later)).output, "heard: ask me | blue | later")
  })

  for (const end of ["failed", "aborted"] as const) {
    test(`are held back after one that ${end}, until the owner decides; a new one goes first`, async () => {
      await using place = await gated()
      const { engine, submit, heard } = place
      const [a, b, c] = [await submit("gate break"), await submit("b"), await submit("c")]
      await place.isWorking()
      if (end === "failed") place.release()
      else await engine.abort(a)
      assert.equal((await engine.result(a)).status, end)
      await engine.recover()
      assert.deepEqual(await engine.queue("agent", "s"), {
        running: undefined,
        pending: [
          { id: b, prompt: [{ type: "text", text: "b" }] },
          { id: c, prompt: [{ type: "text", text: "c" }] },
        ],
      })
      const d = await submit("d")
      assert.equal((await engine.result(d)).status, "done")
      const e = await submit("e")
      assert.equal((await engine.result(e)).status, "done")
      await engine.recover()
      assert.deepEqual(
        (await engine.queue("agent", "s")).pending.map(({ id }) => id),
        [b, c],
        "new ones release nothing",
      )
      await engine.continueQueue("agent", "s")
      await engine.result(c)
      const f = await submit("f")
      const { output } = await engine.result(f)
      assert.match(output, /d \| e \| b \| c \| f$/)
      assert.deepEqual(heard(), ["gate break", "d", "e", "b", "c", "f"])
    })
  }

  test("are held back again where one that was continued fails", async () => {
    await using place = await gated()
    const { engine, submit, heard } = place
    const [a, b, c] = [await submit("gate break"), await submit("break"), await submit("c")]
    await place.isWorking()
    place.release()
    await engine.result(a)
    await engine.continueQueue("agent", "s")
    assert.equal((await engine.result(b)).status, "failed")
    await engine.recover()
    assert.deepEqual(
      (await engine.queue("agent", "s")).pending.map(({ id }) => id),
      [c],
    )
    await engine.continueQueue("agent", "s")
    assert.equal((await engine.result(c)).status, "done")
    assert.deepEqual(heard(), ["gate break", "break", "c"])
  })

  test("that are queued can be cleared, whoever waits before them", async () => {
    await using place = await gated()
    const { engine, submit } = place
    const [a, b, c] = [await submit("gate"), await submit("b"), await submit("c")]
    await place.isWorking()
    assert.equal((await engine.queue("agent", "s")).running, a)
    await engine.clearQueue("agent", "s")
    assert.deepEqual(await engine.queue("agent", "s"), { running: a, pending: [] })
    place.release()
    assert.match((await engine.result(await submit("d"))).output, /gate \| d$/)
    const statuses = await Promise.all([a, b, c].map(async (id) => (await engine.get(id))?.status))
    assert.deepEqual(statuses, ["done", "aborted", "aborted"])
  })

  test("that were held back can be aborted and deleted as others", async () => {
    await using place = await gated()
    const { engine, submit, store } = place
    const [a, b, c] = [await submit("gate break"), await submit("b"), await submit("c")]
    await place.isWorking()
    place.release()
    await engine.result(a)
    const d = await submit("d")
    await engine.result(d)
    await engine.abort(b)
    assert.deepEqual(
      (await engine.queue("agent", "s")).pending.map(({ id }) => id),
      [c],
    )
    await engine.continueQueue("agent", "s")
    assert.match((await engine.result(c)).output, /gate break \| d \| c$/)
    for (const id of [c, b, d, a]) await engine.delete(id)
    assert.deepEqual(await Array.fromAsync(store.keys("")), [queuedMarkerKey])
  })

  test("never overlap and stay one conversation, whatever is submitted, aborted and continued by whom", async () => {
    const step = fc.constantFrom("submit", "submit", "break", "break", "abort", "continue", "wait", "wait")
    const plan = fc.array(fc.tuple(step, fc.nat(1), fc.nat(20)), { minLength: 3, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        let underWay = 0
        let most = 0
        const began: string[] = []
        const model = scriptedModel(async ({ messages }): Promise<ScriptedStep> => {
          const heard = promptsIn(messages)
          began.push(heard.at(-1) ?? "")
          most = Math.max(most, ++underWay)
          await new Promise(setImmediate)
          underWay--
          if (heard.at(-1)?.startsWith("break")) throw new Error("down")
          return heard.join(" ")
        })
        const store = memoryStore()
        const agent = createAgent({ model, runtime: () => jsRuntime() })
        await using one = createEngine({ agents: { agent }, store })
        await using other = createEngine({ agents: { agent }, store })
        const ids: string[] = []
        // A run that is under way and those that follow it by themselves.
        const settle = async () => {
          for (let id: string | undefined; ; ) {
            // The store never lets timers and immediates have their turn.
            await new Promise(setImmediate)
            id = (await one.queue("agent", "s")).running
            if (id === undefined) return
            await one.result(id)
            await one.recover()
          }
        }
        let doing: Promise<unknown>[] = []
        for (const [index, [what, which, number]] of steps.entries()) {
          const engine = which === 0 ? one : other
          if (what === "continue") doing.push(engine.continueQueue("agent", "s"))
          if (what === "abort" && ids.length > 0) doing.push(engine.abort(ids[number % ids.length] ?? ""))
          if (what === "submit" || what === "break") {
            const submitted = engine.submit("agent", `${what}${index}`, { session: "s" })
            doing.push(submitted.then(({ id }) => ids.push(id)))
          }
          if (what !== "wait") continue
          await Promise.all(doing)
          doing = []
          await settle()
        }
        await Promise.all(doing)
        for (let left = 1; left > 0; ) {
          await one.continueQueue("agent", "s")
          await settle()
          left = (await one.queue("agent", "s")).pending.length
        }
        const { messages } = await one.result((await one.submit("agent", "last", { session: "s" })).id)
        assert.equal(most, 1)
        assert.deepEqual(promptsIn(messages), began, "each run goes on from all that began before it")
      }),
      { numRuns: 40, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: true },
    )
  })

  test("are listed by session", async () => {
    const { agent } = listener()
    await using engine = createEngine({ agents: { agent }, store: memoryStore() })
    const asking = await engine.submit("agent", "ask me", { session: "s" })
    const queued = await engine.submit("agent", "later", { session: "s" })
    await engine.result((await engine.submit("agent", "other", { session: "t" })).id)
    await engine.result(asking.id)
    const found = await Array.fromAsync(engine.list({ session: "s", agent: "agent" }))
    assert.deepEqual(found.map(({ id }) => id).toSorted(), [asking.id, queued.id].toSorted())
  })

  test("are removed from the last one on: the next goes on from what is left", async () => {
    const store = memoryStore()
    const { agent } = listener()
    await using engine = createEngine({ agents: { agent }, store })
    const ids: string[] = []
    for (const prompt of ["One", "Two", "Three"]) {
      const { id } = await engine.submit("agent", prompt, { session: "s" })
      await engine.result(id)
      ids.push(id)
    }
    const [one = "", two = "", three = ""] = ids
    await assert.rejects(engine.delete(two), { code: "followed", message: new RegExp(three) })
    await engine.delete(three)
    const { id } = await engine.submit("agent", "Four", { session: "s" })
    assert.match((await engine.result(id)).output, /^heard: One \| Two \| Four$/)
    for (const each of [id, two, one]) await engine.delete(each)
    assert.deepEqual(await Array.fromAsync(store.keys("")), [queuedMarkerKey])
  })

  test("are pruned together, once the last one is old", async () => {
    const store = memoryStore()
    const { agent } = listener()
    await using engine = createEngine({ agents: { agent }, store })
    const submit = async (session: string) => {
      const { id } = await engine.submit("agent", "Go", { session })
      await engine.result(id)
      return id
    }
    const old = [await submit("a"), await submit("a"), await submit("a")]
    const kept = [await submit("b")]
    kept.push((await engine.submit("agent", "ask me", { session: "b" })).id)
    await engine.result(kept[1] ?? "")
    await untilOlder()
    assert.deepEqual((await engine.prune({ olderThanMs: 0 })).toSorted(), old.toSorted())
    const left = await Array.fromAsync(engine.list())
    assert.deepEqual(left.map(({ id }) => id).toSorted(), kept.toSorted())
    assert.equal((await Array.fromAsync(store.keys("sessions/"))).length, 1)
  })
})

test("agents whose names and keys could be taken for each other's do not share runs", async () => {
  const { agent } = listener()
  await using engine = createEngine({ agents: { a: agent, "a/b": agent }, store: memoryStore() })
  const one = await engine.submit("a", "Go", { key: "b/c" })
  const other = await engine.submit("a/b", "Go", { key: "c" })
  assert.notEqual(one.id, other.id)
  await Promise.all([engine.result(one.id), engine.result(other.id)])
})

function promptsIn(messages: readonly Message[]): string[] {
  const prompts = messages.filter((message) => message.role === "user" && message.origin === "prompt")
  return prompts.map((message) => messageText(message).split("\n")[0] ?? "")
}

/** An engine with a session whose prompts may wait ("gate") and fail ("break"). */
async function gated() {
  const gate = Promise.withResolvers<void>()
  let isWorking = false
  const model = scriptedModel(async ({ messages }): Promise<ScriptedStep> => {
    const heard = messages.filter(({ role }) => role === "user").map((message) => messageText(message).split("\n")[0])
    const last = heard.at(-1) ?? ""
    isWorking ||= last.includes("gate")
    if (last.includes("gate")) await gate.promise
    if (last.includes("break")) throw new Error("down")
    return heard.join(" | ")
  })
  const store = memoryStore()
  const engine = createEngine({ agents: { agent: createAgent({ model, runtime: () => jsRuntime() }) }, store })
  return {
    store,
    engine,
    submit: async (prompt: string) => (await engine.submit("agent", prompt, { session: "s" })).id,
    heard: () =>
      model.requests.map(({ messages }) => {
        const prompt = messages.findLast(({ role }) => role === "user")
        return prompt ? messageText(prompt).split("\n")[0] : undefined
      }),
    isWorking: () => waitUntil("the first run is under way", () => isWorking),
    release: () => gate.resolve(),
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

/** An agent that repeats the texts of the user, and asks a question if a text says so. */
function listener() {
  const model = scriptedModel(({ messages }): ScriptedStep => {
    const heard = messages.filter(({ role }) => role === "user").map((message) => messageText(message).split("\n")[0])
    if (heard.at(-1) !== "ask me") return `heard: ${heard.join(" | ")}`
    return [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which colour?" } }]
  })
  const agent = createAgent({ model, tools: [askTool()], runtime: () => jsRuntime() })
  return { agent, requests: () => model.requests }
}
