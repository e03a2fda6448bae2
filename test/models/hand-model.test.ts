import assert from "node:assert/strict"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { readFile, rename, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { createAgent, jsRuntime } from "../../src/index.ts"
import { handModel } from "../../src/models.ts"
import { ask, collect, failing } from "./helpers.ts"

const folder = mkdtempSync(join(tmpdir(), "karst-hand-"))
after(() => rmSync(folder, { recursive: true, force: true }))

async function fileExists(path: string): Promise<void> {
  while (!existsSync(path)) await sleep(20)
}

/** Waits for the request of this number and writes its answer. Returns the request. */
async function answer(dir: string, number: string, text: string): Promise<string> {
  const request = join(dir, `${number}-request.md`)
  await fileExists(request)
  await writeFile(join(dir, "part"), text)
  await rename(join(dir, "part"), join(dir, `${number}-answer.md`))
  return readFile(request, "utf8")
}

describe("a model played by hand", () => {
  test("runs an agent: code, its output, and an answer in plain text", async () => {
    const dir = join(folder, "code")
    const agent = createAgent({ model: handModel({ dir }), runtime: jsRuntime({ price: 20 }) })
    const run = agent.run("What do two cost?")
    const first = await answer(dir, "0001", "```ts\nprice * 2\n```\n")
    assert.match(first, /===== system =====[\s\S]*declare let price: number[\s\S]*What do two cost\?/)
    const second = await answer(dir, "0002", "Two cost 40.\n")
    assert.match(second, /what is new since the previous one/)
    assert.match(second, /price \* 2[\s\S]*===== result =====\n[\s\S]*40/)
    assert.doesNotMatch(second, /===== system =====/)
    assert.equal((await run).output, "Two cost 40.")
  })

  test("calls tools, in the order of the blocks, with the text around them", async () => {
    const dir = join(folder, "tools")
    const parts = collect(
      handModel({ dir }).stream({ ...ask, tools: [{ name: "add", description: "Adds", input: {} }] }),
    )
    const request = await answer(
      dir,
      "0001",
      'I add.\n```tool-call\n{"name":"add","input":{"a":1}}\n```\n```tool-call\n{"name":"add","input":{"a":2}}\n```\n',
    )
    assert.match(request, /===== tools =====\nadd: Adds/)
    assert.match(request, /\(Write the answer to 0001-answer\.md\. A tool call is a block tagged `tool-call`/)
    assert.deepEqual(await parts, [
      { type: "text", text: "I add." },
      { type: "tool-call", id: "hand_0001_1", name: "add", input: { a: 1 } },
      { type: "tool-call", id: "hand_0001_2", name: "add", input: { a: 2 } },
      { type: "finish", reason: "tool-calls", usage: { complete: false } },
    ])
  })

  test("describes a mistake in a tool call in a file, and reads the corrected answer", async () => {
    const dir = join(folder, "mistake")
    const parts = collect(handModel({ dir }).stream(ask))
    await answer(dir, "0001", "```tool-call\n{name: add}\n```\n")
    const problem = join(dir, "0001-problem.md")
    await fileExists(problem)
    assert.match(await readFile(problem, "utf8"), /Tool call 1 is not valid: .*Write it as \{ "name"/s)
    await answer(dir, "0001", '```tool-call\n{"name":"add"}\n```\n')
    assert.deepEqual((await parts)[0], { type: "tool-call", id: "hand_0001_1", name: "add", input: {} })
  })

  test("counts tokens when it is given a counter", async () => {
    const dir = join(folder, "tokens")
    const model = handModel({ dir, countTokens: (text) => text.length, price: { input: 1, output: 1 } })
    const parts = collect(model.stream(ask))
    await answer(dir, "0001", "Yes.")
    const last = (await parts).at(-1)
    assert.ok(last?.type === "finish")
    assert.equal(last.usage.output, 4)
    assert.ok((last.usage.input ?? 0) >= ask.system.length)
  })

  test("numbers requests after those that are in the folder, also of another model", async () => {
    const dir = join(folder, "tokens")
    const parts = collect(handModel({ dir }).stream(ask))
    await answer(dir, "0002", "Again.")
    assert.deepEqual((await parts)[0], { type: "text", text: "Again." })
  })

  test("stops waiting when it is aborted", async () => {
    const dir = join(folder, "abort")
    const controller = new AbortController()
    const stopped = failing(handModel({ dir }).stream({ ...ask, signal: controller.signal }))
    await fileExists(join(dir, "0001-request.md"))
    controller.abort()
    assert.equal(((await stopped).error as Error).name, "AbortError")
  })

  test("needs a folder", () => {
    assert.throws(() => handModel({} as never), /`dir` is missing/)
  })
})
