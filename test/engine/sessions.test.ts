import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, createEngine, jsRuntime, memoryStore, messageText, type ScriptedStep, scripted } from "karst"
import { askTool } from "karst/tools"
import { queuedMark } from "../../src/engine/checkpoint.ts"

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
