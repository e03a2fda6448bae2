import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { promisify } from "node:util"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { ConfigError } from "../../src/core/errors.ts"
import { type ModelSource, toModel } from "../../src/models/model-source.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { modelServer } from "../fixtures/model-server.ts"
import { ask, collect, failing, textOf } from "./helpers.ts"

test("a model of ours is used as it is", () => {
  const model = scriptedModel([])
  assert.equal(toModel(model), model)
})

test("an AI SDK model is adapted, and tried again when the service asks for it", async () => {
  await using server = await modelServer({ status: 429, headers: { "retry-after": "0" } }, { text: ["hello"] })
  const provider = createOpenAICompatible({ name: "loopback", baseURL: server.url })
  const model = toModel(provider("stone-1"))
  assert.equal(model.id, "loopback/stone-1")
  assert.equal(textOf(await collect(model.stream(ask))), "hello")
})

test("an id is resolved when it is first used", async () => {
  await using server = await modelServer({ text: ["hello"] }, { text: ["again"] })
  const model = toModel(`openai-compatible:${server.url}#stone-1`)
  assert.equal(server.requests.length, 0)
  assert.equal(textOf(await collect(model.stream(ask))), "hello")
  assert.equal(textOf(await collect(model.stream(ask))), "again")
})

test("an id knows its price and window before it is used", () => {
  const model = toModel("anthropic/claude-sonnet-4-5")
  assert.deepEqual([model.id, model.price?.output, model.contextWindow], ["anthropic/claude-sonnet-4-5", 15, 200_000])
})

test("what is wrong with an id shows at the first stream, and may be mended for the next", async (t) => {
  const before = process.env.GROQ_API_KEY
  t.after(() => {
    if (before === undefined) delete process.env.GROQ_API_KEY
    else process.env.GROQ_API_KEY = before
  })
  delete process.env.GROQ_API_KEY
  const model = toModel("groq/stone-1")
  const { error } = await failing(model.stream(ask))
  assert.ok(error instanceof ConfigError)
  assert.match(error.message, /GROQ_API_KEY/)
  process.env.GROQ_API_KEY = "here now"
  // Aborted before it starts: the model is found this time, but no request is made.
  const mended = await failing(model.stream({ ...ask, signal: AbortSignal.abort() }))
  assert.equal((mended.error as Error).name, "AbortError")
})

test("leaving early closes the request behind an id", async () => {
  await using server = await modelServer({ text: ["one", "two", "three"], after: 3 })
  for await (const _ of toModel(`openai-compatible:${server.url}#stone-1`).stream(ask)) break
  assert.equal(await (await server.request(0)).closed, "left")
})

test("an abort reaches the request behind an id", async () => {
  await using server = await modelServer({ hang: true })
  const controller = new AbortController()
  const model = toModel(`openai-compatible:${server.url}#stone-1`)
  const outcome = failing(model.stream({ ...ask, signal: controller.signal }))
  const received = await server.request(0)
  controller.abort()
  assert.equal(((await outcome).error as Error).name, "AbortError")
  assert.equal(await received.closed, "left")
})

test("an AI SDK model of an old specification is refused where it is given", () => {
  const old = { specificationVersion: "v2", provider: "acme", modelId: "m", doStream: async () => assert.fail() }
  assert.throws(() => toModel(old), /"v2"/)
})

test("anything else is refused with what is accepted", () => {
  for (const source of [42, null, {}, () => {}]) {
    assert.throws(() => toModel(source as unknown as ModelSource), /A model must be an id such as/)
  }
})

test("importing the models loads no AI SDK package before one is used", async () => {
  const script = `
    import { registerHooks } from "node:module"
    const seen = []
    registerHooks({ resolve: (name, context, next) => { seen.push(name); return next(name, context) } })
    for (const file of ["models.ts", "models/model-source.ts", "models/prices.ts"])
      await import(new URL("./src/" + file, "file://" + process.cwd() + "/"))
    console.log(JSON.stringify(seen.filter((name) => !name.startsWith("node:") && !name.startsWith(".") && !name.startsWith("file:"))))
  `
  const options = { cwd: new URL("../..", import.meta.url) }
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options)
  assert.deepEqual(JSON.parse(stdout), [])
})
