import assert from "node:assert/strict"
import { test } from "node:test"
import { createAgent } from "../../../src/agent/create-agent.ts"
import { messageText } from "../../../src/core/message.ts"
import { type ScriptedAnswer, scriptedModel } from "../../../src/models/scripted.ts"
import { variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { cell, collectRun, onlyEvent, resultShownToModel, runIdsOf, scriptedAgent, usage } from "../scripted-agents.ts"

/** A worker that answers with its prompt, after an optional step. */
function worker(before: (prompt: string) => unknown = () => undefined) {
  let busy = 0
  let most = 0
  const answer: ScriptedAnswer = async ({ messages }) => {
    const prompt = messageText(messages[0] ?? assert.fail()).split("\n")[0] ?? ""
    most = Math.max(most, ++busy)
    await new Promise((resolve) => setImmediate(resolve))
    await before(prompt)
    busy--
    return `answer to ${prompt}`
  }
  const agent = createAgent({ name: "worker", model: scriptedModel(answer, { usage }) })
  return { agent, most: () => most }
}

test("a batch runs so many at a time, and its replies are in the order of its prompts", async () => {
  const { agent, most } = worker()
  const code = `const replies = await worker.runAll(Array.from({ length: 9 }, (_, n) => "task " + n), { maxParallel: 3 })
    replies.map((reply) => reply.output).join("; ")`
  const model = scriptedModel([cell(code), "Done."])
  const boss = createAgent({ name: "boss", model, runtime: jsRuntime({ worker: agent }) })
  const { events } = await collectRun(boss.run("go"))
  assert.equal(most(), 3)
  assert.match(resultShownToModel(model), /answer to task 0; answer to task 1; .*; answer to task 8/)
  assert.equal(runIdsOf(events, "worker").size, 9)
})

test("what fails in a batch is data among the rest", async () => {
  const { agent } = worker((prompt) => {
    if (prompt === "b") throw new Error("cannot do b")
  })
  const model = scriptedModel([
    cell('(await worker.runAll(["a", "b", "c"])).map(({ status }) => status).join()'),
    "Done.",
  ])
  await createAgent({ model, runtime: jsRuntime({ worker: agent }) }).run("go")
  assert.match(resultShownToModel(model), /done,failed,done/)
})

test("an abort ends the whole batch, also what has not begun", async () => {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const { agent } = worker(async () => {
    resolve()
    await new Promise(() => undefined)
  })
  const boss = scriptedAgent("boss", [cell('await worker.runAll(["a", "b", "c", "d"], { maxParallel: 2 })'), "Done."], {
    runtime: jsRuntime({ worker: agent }),
  })
  const run = boss.run("go")
  void begun.then(() => run.abort())
  const { events } = await collectRun(run)
  const ends = events.filter((event) => event.type === "run-end").map((event) => event.status)
  assert.ok(ends.every((status) => status === "aborted"))
  assert.equal(onlyEvent(events, "run-end", "boss").status, "aborted")
})

test("each run of a batch has values and a runtime of its own", async () => {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "user" ? cell("total = rows.reduce((sum, n) => sum + n, 0)") : "Added.",
  )
  const adder = createAgent({ name: "adder", model, runtime: () => jsRuntime({ rows: variable<number[]>([]) }) })
  const code = `const chunks = [[1, 2], [3, 4], [5, 6]]
    const outputs = { total: { type: "number" } }
    const replies = await adder.runAll(chunks.map((rows) => ({ prompt: "add", values: { rows }, outputs })))
    replies.map(({ objects }) => objects.total)`
  const boss = scriptedModel([cell(code), "Done."])
  await createAgent({ model: boss, runtime: jsRuntime({ adder }) }).run("go")
  assert.match(resultShownToModel(boss), /\[ 3, 7, 11 \]/)
})

test("values for parallel runs on one shared runtime are refused, one after the other they are not", async () => {
  const runtime = jsRuntime({ n: 0, seen: variable<number[]>([]) })
  const model = scriptedModel(({ messages }) => (messages.length === 1 ? cell("seen.push(n)") : "Done."))
  const worker = createAgent({ name: "worker", model, runtime })
  const tasks = '[1, 2].map((n) => ({ prompt: "go", values: { n } }))'
  const boss = scriptedModel([
    cell(`await worker.runAll(${tasks})`),
    cell(`await worker.runAll(${tasks}, { maxParallel: 1 })`),
    "Done.",
  ])
  await createAgent({ model: boss, runtime: jsRuntime({ worker }) }).run("go")
  assert.match(resultShownToModel(boss), /share one runtime.*Say \{ maxParallel: 1 \}/s)
  assert.deepEqual(await runtime.retrieve("seen"), [1, 2])
})

test("a batch that cannot be is an error that says how it could", async () => {
  const { agent } = worker()
  const cells = ['worker.runAll("a")', 'worker.runAll(["a"], { maxParallel: 0 })', 'worker.runAll([{ text: "a" }])']
  const model = scriptedModel([...cells.map((code) => cell(`await ${code}`)), "Done."])
  await createAgent({ model, runtime: jsRuntime({ worker: agent }) }).run("go")
  assert.match(resultShownToModel(model, 1), /tasks is a list of prompts/)
  assert.match(resultShownToModel(model, 2), /maxParallel is a whole number of at least 1, not 0/)
  assert.match(resultShownToModel(model, 3), /unknown option text\. There is prompt, values, outputs/)
})

test("a budget that a batch uses up stops its runs and begins no new ones' work", async () => {
  const { agent } = worker()
  const code = `const replies = await worker.runAll(["a", "b", "c", "d"], { maxParallel: 1 })
    replies.map(({ status }) => status).join()`
  const boss = scriptedAgent("boss", [cell(code), "Done."], {
    runtime: jsRuntime({ worker: agent }),
    limits: { tokens: 45 },
  })
  const { events, result } = await collectRun(boss.run("go"))
  assert.match(onlyEvent(events, "code-end", "boss").text, /done,done,stopped,stopped/)
  assert.deepEqual([result.status, result.reason], ["stopped", "tokens"])
})
