import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, createEngine, jsRuntime, memoryStore, messageText, type ScriptedStep, scripted } from "karst"
import { askTool } from "karst/tools"
import { queuedMark } from "../../src/engine/checkpoint.ts"
import { until } from "../providers/kit.ts"

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
    const model = scripted(async ({ messages }): Promise<ScriptedStep> => {
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
    await until("the first run is under way", () => model.requests.length === 2)
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
    assert.deepEqual(await Array.fromAsync(store.keys("")), [queuedMark])
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
    assert.deepEqual((await engine.prune({ olderThanMs: -1000 })).toSorted(), old.toSorted())
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

/** An agent that says what it heard from the user, and asks when it is told to. */
function listener() {
  const model = scripted(({ messages }): ScriptedStep => {
    const heard = messages.filter(({ role }) => role === "user").map((message) => messageText(message).split("\n")[0])
    if (heard.at(-1) !== "ask me") return `heard: ${heard.join(" | ")}`
    return [{ type: "tool-call", id: "1", name: "ask", input: { question: "Which colour?" } }]
  })
  const agent = createAgent({ model, tools: [askTool()], runtime: () => jsRuntime() })
  return { agent, requests: () => model.requests }
}
