// test lane: durable
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, type TestContext, test } from "node:test"
import { createAgent, fn, jsRuntime, messageText } from "karst"
import { createEngine } from "karst/engine"
import { type ModelRequest, scriptedModel } from "karst/models"
import { memoryStore } from "karst/stores"
import { todosTool } from "karst/tools"

const program = join(import.meta.dirname, "interrupted-program.ts")

interface Told {
  status: string
  said: { role: string; text: string }[]
}

/** Executes the run in processes that are killed so many times; returns what the last one reported. */
function afterKills(context: TestContext, scenario: string, kills: number): Told & { effects: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "karst-interrupted-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  for (let process_ = 0; ; process_++) {
    const { signal, stdout, stderr } = spawnSync(
      process.execPath,
      ["--conditions=karst-source", program, folder, scenario],
      { encoding: "utf8", timeout: 60_000 },
    )
    if (process_ < kills) assert.equal(signal, "SIGKILL", stderr)
    else {
      assert.equal(signal, null, stderr)
      const effects = readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n")
      return { ...JSON.parse(stdout || assert.fail(stderr)), effects }
    }
  }
}

const noticesIn = (said: readonly { role: string; text: string }[]) =>
  said.filter(({ role, text }) => role === "user" && text.startsWith("This run was interrupted"))

describe("the next prompt after kill -9", () => {
  test("says that the run was interrupted, which calls were started and which outcome is unknown", (context) => {
    const { status, said, effects } = afterKills(context, "call", 1)
    assert.equal(status, "done")
    assert.deepEqual(effects, ["lookUp 7", "pay", "lookUp 8"], "nothing was done twice")
    const [notice, ...more] = noticesIn(said)
    assert.equal(more.length, 0, "it is said once")
    assert.match(notice?.text ?? "", /- pay\(100\): outcome unknown/)
    assert.match(notice?.text ?? "", /- lookUp\(7\): finished, its result was recorded/)
    assert.doesNotMatch(notice?.text ?? "", /lookUp\(8\)/)
    const at = said.findIndex(({ text }) => text === notice?.text)
    assert.equal(said[at - 1]?.role, "result", "it comes after the result of the cell that was run again")
  })

  test("says it once when two processes were killed in the same cycle", (context) => {
    const { status, said, effects } = afterKills(context, "twice", 2)
    assert.equal(status, "done")
    assert.deepEqual(effects, ["lookUp 7", "pay", "refund", "lookUp 8"])
    const notices = noticesIn(said)
    assert.equal(notices.length, 1)
    assert.match(notices[0]?.text ?? "", /- pay\(100\): outcome unknown/)
    assert.match(notices[0]?.text ?? "", /- refund\(100\): outcome unknown/)
  })

  test("says it although the run waited for an approval before the cycle was saved", (context) => {
    const { said, effects } = afterKills(context, "approval", 1)
    assert.deepEqual(effects, ["pay", "sign", "lookUp 8"])
    const notices = noticesIn(said)
    assert.equal(notices.length, 1)
    assert.match(notices[0]?.text ?? "", /- pay\(100\): outcome unknown/)
    assert.doesNotMatch(notices[0]?.text ?? "", /sign/)
  })

  test("names a call that its policy made again as such, and not as unknown", (context) => {
    const { said, effects } = afterKills(context, "retried", 1)
    assert.deepEqual(effects, ["deliver", "deliver"])
    assert.match(noticesIn(said)[0]?.text ?? "", /- deliver\("box"\): made again/)
  })

  test("says that no call was under way when the process was killed while the model answered", (context) => {
    const { said } = afterKills(context, "answer", 1)
    const [notice, ...more] = noticesIn(said)
    assert.equal(more.length, 0)
    assert.match(notice?.text ?? "", /No recorded call was under way/)
    assert.equal(said.at(-1)?.text, "Done.", "the model had it before it answered")
    assert.equal(said.at(-2), notice)
  })
})

describe("the next prompt after an orderly suspension", () => {
  const turn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length

  test("says nothing of an interruption when the run waited for an approval and for an answer", async () => {
    const store = memoryStore()
    const steps = ["```ts\nawait look()\nawait pay()\n```", "done"]
    const agent = createAgent({
      model: scriptedModel((request) => steps[turn(request)] ?? "Done."),
      runtime: () => jsRuntime({ look: fn(async () => 1), pay: fn(async () => 1, { approve: true }) }),
    })
    const first = createEngine({ agents: { agent }, store, holdMs: 0 })
    const { id } = await first.submit("agent", "Go")
    const { pending } = await first.result(id)
    await first.close()
    await using second = createEngine({ agents: { agent }, store })
    await second.approve(id, pending?.id ?? "", "allow")
    const { status, messages } = await second.result(id)
    assert.equal(status, "done")
    assert.deepEqual(noticesIn(messages.map((each) => ({ role: each.role, text: messageText(each) }))), [])
  })

  test("says nothing of an interruption after a drain", async () => {
    const store = memoryStore()
    const engineOf = () => {
      const agent = createAgent({
        model: scriptedModel((request) => (turn(request) === 0 ? "```ts\nawait stop()\n```" : "Done.")),
        runtime: () => jsRuntime({ stop: fn(() => void engine.drain()) }),
      })
      const engine = createEngine({ agents: { agent }, store })
      return engine
    }
    const first = engineOf()
    const { id } = await first.submit("agent", "Go")
    for await (const event of first.watch(id)) if (event.type === "cycle-end") break
    await first.close()
    await using second = engineOf()
    await second.recover()
    const { status, messages } = await second.result(id)
    assert.equal(status, "done")
    assert.deepEqual(noticesIn(messages.map((each) => ({ role: each.role, text: messageText(each) }))), [])
  })

  test("says nothing of an interruption after a question was answered", async () => {
    const store = memoryStore()
    const agent = createAgent({ model: scriptedModel(["Which?", "Done?"]), tools: [todosTool()], noTool: "wait" })
    const first = createEngine({ agents: { agent }, store })
    const { id } = await first.submit("agent", "Go")
    assert.equal((await first.result(id)).status, "waiting")
    await first.close()
    await using second = createEngine({ agents: { agent }, store })
    await second.answer(id, "Blue")
    const { messages } = await second.result(id)
    assert.deepEqual(noticesIn(messages.map((each) => ({ role: each.role, text: messageText(each) }))), [])
  })
})
