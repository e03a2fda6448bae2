// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { inspect } from "node:util"
import { kwargs } from "../../../src/runtime/python/py-reference.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared-kernel.ts"

interface Model {
  factor: Promise<number> | number
  name: Promise<string>
  inner: { depth: Promise<number>; up(by: number): Promise<number> }
  predict(values: unknown, ...more: unknown[]): Promise<unknown>
  fail(): Promise<never>
  slowly(value: number): Promise<number>
  itself(): Promise<Model>
  connection: Promise<unknown>
}

describe("Python's own objects in TypeScript", { skip: requires("python") }, () => {
  const setup = `
import asyncio, sqlite3
class Inner:
    depth = 3
    def up(self, by): return self.depth + by
class Model:
    name = "m"
    def __init__(self, factor): self.factor = factor; self.inner = Inner()
    def predict(self, values, bias=0): return [v * self.factor + bias for v in values]
    def fail(self): raise LookupError("nothing there")
    async def slowly(self, value):
        await asyncio.sleep(0.001)
        return value + 1
    def itself(self): return self
model = Model(2)
models = [Model(3), Model(4)]
connection = sqlite3.connect(":memory:")
`
  const runtime = sharedRuntime(
    { use: async (model: Model) => model.predict([5]), same: (a: unknown, b: unknown) => a === b },
    { setup },
  )
  const model = async () => (await retrieveAny(runtime, "model")) as Model

  test("have methods, attributes and paths", async () => {
    const handle = await model()
    assert.deepEqual(await handle.predict([1, 2]), [2, 4])
    assert.deepEqual(await handle.predict([1], 7), [9])
    assert.deepEqual(await handle.predict([1], kwargs({ bias: 1 })), [3])
    assert.equal(await handle.name, "m")
    assert.equal(await handle.inner.depth, 3)
    assert.equal(await handle.inner.up(2), 5)
  })

  test("are the same handle each time, and the same object when they go back", async () => {
    const handle = await model()
    assert.equal(await model(), handle)
    assert.equal(await handle.itself(), handle)
    await runtime.inject({ returned: handle })
    assert.equal(await runtime.value("returned is model"), true)
    assert.equal(await runtime.value("same(model, model)"), true)
  })

  test("have setters that come before the next use", async () => {
    const handle = await model()
    handle.factor = 5
    assert.deepEqual(await handle.predict([1]), [5])
    handle.factor = 2
    assert.equal(await handle.factor, 2)
  })

  test("reject with Python's own error", async () => {
    const handle = await model()
    await assert.rejects(handle.fail(), { name: "LookupError", message: "nothing there" })
    await assert.rejects(Promise.resolve((handle as unknown as { nope: Promise<unknown> }).nope), {
      name: "AttributeError",
    })
  })

  test("may be async", async () => {
    assert.equal(await (await model()).slowly(1), 2)
  })

  test("are used in the thread they were made in", async () => {
    const connection = (await retrieveAny(runtime, "connection")) as {
      execute(sql: string): Promise<{ fetchall(): Promise<unknown> }>
    }
    const cursor = await connection.execute("select 1 + 1, 'x'")
    assert.deepEqual(await cursor.fetchall(), [[2, "x"]])
  })

  test("inside data are handles in place", async () => {
    const [first, second] = (await retrieveAny(runtime, "models")) as Model[]
    assert.deepEqual([await first?.factor, await second?.factor], [3, 4])
  })

  test("can be used by the very function that a cell gave them to", async () => {
    assert.deepEqual(await runtime.value("use(model)"), [10])
  })

  test("are no promises, and say what they are", async () => {
    const handle = await model()
    assert.equal((handle as { then?: unknown }).then, undefined)
    assert.match(inspect(handle), /Model in Python/)
  })

  test("may be written as JSON by a host that does not know what they are, and are no text", async () => {
    await runtime.ran("plain = object()")
    const plain = await retrieveAny(runtime, "plain")
    assert.equal(JSON.stringify({ plain }), '{"plain":"[object in Python]"}')
    assert.throws(() => `${plain}`, /object lives in Python and has no primitive value.*await/)
  })

  test("throw where an await was forgotten, and say so", async () => {
    const { factor, name } = (await model()) as unknown as { factor: number; name: string }
    assert.throws(() => factor + 1, {
      name: "TypeError",
      message: /Model\.factor is in Python: write `await` before it/,
    })
    assert.throws(() => `${name}`, /Model\.name is in Python/)
    assert.throws(() => factor > 3, TypeError)
  })

  test("are released when they are dropped", async () => {
    const before = await runtime.value(
      "import gc\nclass Once: pass\nsum(isinstance(o, Once) for o in gc.get_objects())",
    )
    assert.equal(before, 0)
    await runtime.ran("once = Once()")
    await (async () => void (await retrieveAny(runtime, "once")))()
    await runtime.ran("del once")
    const { setFlagsFromString } = await import("node:v8")
    const { runInNewContext } = await import("node:vm")
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    for (let turn = 0; turn < 50; turn++) {
      collect()
      await new Promise(setImmediate)
      if ((await runtime.value("gc.collect()\nsum(isinstance(o, Once) for o in gc.get_objects())")) === 0) return
    }
    assert.fail("The object is still held.")
  })

  test("of a kernel that is gone say so", async () => {
    const handle = await model()
    await runtime.reset()
    await assert.rejects(handle.predict([1]), /Model is gone/)
    const { lost = [] } = await runtime.ran("1")
    assert.deepEqual(
      lost.map(({ name }) => name),
      ["returned"],
    )
    await assert.rejects(runtime.inject({ old: handle }), /gone/)
  })
})
