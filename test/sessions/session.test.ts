// test lane: durable
import assert from "node:assert/strict"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { jsRuntime } from "../../src/runtime/js.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

describe("a session", () => {
  test("keeps the conversation and the objects from send to send", async () => {
    const model = scriptedModel([cell("const best = 'May'"), "May.", cell("best"), "Still May."])
    await using session = await createAgent({ model }).session()
    await session.send("Which month was best?")
    const second = await session.send("And now?")
    assert.equal(second.output, "Still May.")
    assert.match(JSON.stringify(model.requests[3]?.messages), /Which month was best[\s\S]*'May'/)
    assert.equal(await session.runtime?.retrieve("best"), "May")
  })

  test("freezes the system prompt, so that prompt caches hit", async () => {
    const runtime = jsRuntime({ a: 1 })
    const model = scriptedModel(["one", "two"])
    await using session = await createAgent({ model, runtime }).session()
    await session.send("x")
    await runtime.inject({ b: 2 })
    await session.send("y")
    assert.equal(model.requests[0]?.system, model.requests[1]?.system)
  })

  test("announces what was injected later, in a message and once", async () => {
    const runtime = jsRuntime({ early: 1 })
    const model = scriptedModel(["one", "two", "three"])
    await using session = await createAgent({ model, runtime }).session()
    await session.send("x")
    await runtime.inject({ late: (name: string) => name })
    await session.send("y")
    await session.send("z")
    const announced = session.messages().filter((message) => message.role === "user" && message.origin === "host")
    assert.equal(announced.length, 1)
    assert.match(JSON.stringify(announced[0]), /declare function late/)
    assert.doesNotMatch(JSON.stringify(announced[0]), /early/)
  })

  test("runs its sends one after the other", async () => {
    const order: string[] = []
    const model = scriptedModel((request) => {
      order.push(JSON.stringify(request.messages.findLast((message) => message.role === "user")?.parts[0]))
      return "ok"
    })
    await using session = await createAgent({ model }).session()
    await Promise.all(["a", "b", "c"].map((prompt) => session.send(prompt).settled))
    assert.deepEqual(
      order.map((text) => JSON.parse(text).text),
      ["a", "b", "c"],
    )
    assert.equal(session.messages().length, 6)
  })

  test("goes on after a send that failed", async () => {
    const model = scriptedModel([new Error("down"), "up"])
    await using session = await createAgent({ model }).session()
    assert.equal((await session.send("x").settled).status, "failed")
    assert.equal((await session.send("y")).output, "up")
  })

  test("does not hear of a send that was aborted before its turn", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<string>()
    const model = scriptedModel([() => gate, "third"])
    await using session = await createAgent({ model }).session()
    const first = session.send("first")
    const second = session.send("second")
    second.abort()
    open("one")
    await first
    assert.equal((await second.settled).status, "aborted")
    await session.send("third")
    assert.doesNotMatch(JSON.stringify(session.messages()), /second/)
  })

  test("steers the run under way, or the next one", async () => {
    const model = scriptedModel(["a", "b"])
    await using session = await createAgent({ model }).session()
    session.steer("in French")
    await session.send("hello")
    assert.match(JSON.stringify(model.requests[0]?.messages), /in French/)
  })

  test("has a trajectory that adds up its runs, and saves it as JSON", async () => {
    const folder = await mkdtemp(join(tmpdir(), "karst-"))
    const usage = { input: 10, output: 1, complete: true }
    await using session = await createAgent({ model: scriptedModel(["a", "b"], { usage }) }).session()
    await session.send("x")
    await session.send("y")
    const path = join(folder, "session.json")
    await session.save(path)
    const saved = JSON.parse(await readFile(path, "utf8"))
    assert.deepEqual(saved, session.trajectory())
    assert.equal(saved.runs.length, 2)
    assert.equal(saved.usage.input, 20)
    await rm(folder, { recursive: true })
  })

  test("closes twice without complaint, and refuses to send afterwards", async () => {
    const session = await createAgent({ model: scriptedModel(["a"]) }).session()
    await session.send("x")
    const closed = await session.close()
    assert.equal(closed.runs.length, 1)
    assert.deepEqual(await session.close(), closed)
    assert.throws(() => session.send("y"), /closed/)
  })

  test("closes the runtime it made, and leaves alone the one it was given", async () => {
    const shared = jsRuntime({ x: 1 })
    const given = await createAgent({ model: scriptedModel([]), runtime: shared }).session()
    await given.close()
    assert.equal(await shared.retrieve("x"), 1)
    let made: ReturnType<typeof jsRuntime> | undefined
    const own = await createAgent({
      model: scriptedModel([]),
      runtime: () => {
        made = jsRuntime()
        return made
      },
    }).session()
    await own.close()
    await assert.rejects(async () => await made?.names(), /closed/)
  })
})
