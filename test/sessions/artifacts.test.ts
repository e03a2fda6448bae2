// test lane: durable
import assert from "node:assert/strict"
import { fork } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { RunResult } from "../../src/core/agent.ts"
import { messageText } from "../../src/core/message.ts"
import type { ModelPart } from "../../src/models/model.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { deleteSession } from "../../src/sessions/session-archive.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"
import { call, calls, finish, resultsIn } from "../agent/tool-call-helpers.ts"
import { clerkTools } from "../fixtures/sessions/clerk-tools.ts"
import { freshFolder } from "./session-fixtures.ts"

const report = (month: string) => call("report", { month })
const read = (name: string) => call("read_artifact", { name })
const clerk = (...answers: ModelPart[][]) =>
  createAgent({ noTool: "continue", todos: true, model: scriptedModel(answers), tools: clerkTools() })

describe("a session that is resumed by another agent object", () => {
  test("has its artifacts, numbers new ones on, and has the state and the todos of its tools", async () => {
    await using folder = await freshFolder()
    const todos = { todos: [{ title: "Compare" }] }
    const first = await clerk(
      calls(report("May"), call("count"), call("write_todos", todos), call("finish", {})),
    ).session({
      archive: folder.path,
    })
    await first.send("May", { limits: { cycles: 1 }, state: { budget: 100 } })
    const { handle } = first
    await first.close()
    const second = clerk(calls(report("June"), call("count"), read("_output_1"), read("_output_2")), calls(finish()))
    await using session = await second.session({ resume: handle })
    const result = await session.send("June", { limits: { cycles: 1 } })
    assert.deepEqual(readBack(result), ["May", "June"])
    assert.deepEqual(result.state.count, 2)
    assert.deepEqual(result.state.budget, 100)
    assert.deepEqual(
      result.todos.map(({ title, status }) => ({ title, status })),
      [{ title: "Compare", status: "pending" }],
    )
  })

  test("has them after its process was killed in the middle of a run, and what its model had not heard", async () => {
    await using folder = await freshFolder()
    const program = join(import.meta.dirname, "../fixtures/sessions/tool-writer.ts")
    const child = fork(program, [folder.path], { execArgv: ["--conditions=karst-source"] })
    const [handle] = await once(child, "message")
    child.kill("SIGKILL")
    await once(child, "exit")
    const second = clerk(calls(report("June"), call("count"), read("_output_1"), read("_output_2")))
    await using session = await second.session({ resume: handle })
    const result = await session.send("Go on", { limits: { cycles: 1 } })
    assert.deepEqual(readBack(result), ["May", "June"])
    assert.equal(result.state.count, 3)
    assert.equal(result.state.budget, 100)
    assert.deepEqual(
      result.todos.map(({ title }) => title),
      ["Compare"],
    )
    assert.equal(result.messages.filter((message) => messageText(message) === "Hurry up.").length, 1)
  })
})

describe("the artifacts of a session", () => {
  test("are copied by a fork, and what one adds is not in the other", async () => {
    for (const archive of [undefined, memoryStore()]) {
      const step = calls(report("June"), read("_output_1"), read("_output_2"), read("_output_3"))
      const agent = clerk(
        calls(report("May"), finish()),
        step,
        calls(finish()),
        calls(report("July"), read("_output_2"), finish()),
      )
      await using first = await agent.session({ archive })
      await first.send("May")
      const forked = await first.fork?.()
      assert.ok(forked)
      assert.deepEqual(readBack(await forked.send("June")), ["May", "June", "Error"])
      assert.deepEqual(readBack(await first.send("July")), ["July"])
      await forked.close()
      if (archive) await deleteSession(archive, first.id)
      if (!archive) continue
      await using again = await clerk(calls(read("_output_1"), finish())).session({ archive, resume: forked.id })
      assert.deepEqual(readBack(await again.send("May again")), ["May"])
    }
  })

  test("are removed with it", async () => {
    const archive = memoryStore()
    const session = await clerk(calls(report("May"), finish())).session({ archive })
    await session.send("May")
    await session.close()
    const artifacts = async () =>
      (await Array.fromAsync(archive.keys("sessions/"))).filter((key) => key.includes("/artifacts/"))
    assert.equal((await artifacts()).length, 1)
    await deleteSession(archive, session.id)
    assert.deepEqual(await Array.fromAsync(archive.keys("sessions/")), [])
  })

  test("are in its folder, beside its events", async () => {
    await using folder = await freshFolder()
    await using session = await clerk(calls(report("May"), finish())).session({ archive: folder.path })
    await session.send("May")
    assert.ok(existsSync(join(session.directory ?? "", "artifacts/_output_1.json")))
  })

  test("of a sub-agent that asks are there after a resume, and so is its state", async () => {
    const archive = memoryStore()
    const agents = () => ({
      clerk: clerk(
        calls(report("June"), call("count"), read("_output_1"), read("_output_2")),
        calls(finish("Compared.")),
      ),
    })
    const asking = clerk(calls(report("May"), call("count")), calls(call("ask", { question: "Go on?" })))
    const task = calls(call("delegate", { tasks: [{ agent: "clerk", prompt: "Compare" }] }))
    const first = await createAgent({
      noTool: "continue",
      todos: true,
      model: scriptedModel([task]),
      agents: { clerk: asking },
    }).session({ archive })
    assert.equal((await first.send("Go")).status, "waiting")
    await first.close()
    const answer = calls(call("delegate", { tasks: [{ continue: "t1", prompt: "Yes." }] }))
    const lead = createAgent({
      noTool: "continue",
      todos: true,
      model: scriptedModel([answer, calls(finish())]),
      agents: agents(),
    })
    await using second = await lead.session({ archive, resume: first.id })
    const { trajectory } = await second.send("Yes.")
    const ends = trajectory.events.flatMap((event) => (event.type === "tool-end" ? [event] : []))
    const asked = trajectory.events.flatMap((event) => (event.type === "tool-start" ? [event] : []))
    const reads = asked.filter(({ name }) => name === "read_artifact")
    assert.deepEqual(
      reads.map(
        ({ id }) =>
          ends
            .find((end) => end.id === id)
            ?.text.replace(/^\[read_artifact .*\]\n/, "")
            .split(" ")[0],
      ),
      ["May", "June"],
    )
    assert.deepEqual(
      ends.filter(({ name }) => name === "count").map(({ text }) => text),
      ["Counted 2."],
    )
  })
})

/** The first word of each text that was read back in the last run. */
function readBack({ trajectory }: RunResult): (string | undefined)[] {
  return resultsIn(trajectory.messages)
    .filter(({ name }) => name === "read_artifact")
    .map(({ text }) => text.replace(/^\[read_artifact .*\]\n/, "").split(" ")[0])
}
