// test lane: runtimes, long
// Names, declarations and snapshots of a runtime do not depend on whether a value of a cell can be looked at.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent, jsRuntime, type Runtime } from "karst"
import { scriptedModel } from "karst/models"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { requires } from "../system.ts"
import { cellValue, errorOf } from "./cell-results.ts"

const traps = ["get", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf", "isExtensible"]
const throwing = traps.map((trap) => `${trap}() { throw new Error("${trap}") }`).join(", ")
const proxy = `new Proxy({}, { ${throwing} })`
const unreadable: Record<string, string> = {
  "a Proxy of an object": `new Proxy({}, { ${throwing} })`,
  "a Proxy of a list": `new Proxy([], { ${throwing} })`,
  "a Proxy of a function": `new Proxy(function () {}, { ${throwing} })`,
  "a Proxy of a class": `new Proxy(class {}, { ${throwing} })`,
  "an object whose getter throws": `{ get name() { throw new Error("name") }, get size() { throw new Error("size") } }`,
  "an instance whose getters throw": `new (class { get name() { throw new Error("name") } get length() { throw new Error("length") } })()`,
  "a class whose static getter throws": `class { static get name() { throw new Error("name") } }`,
  "a revoked Proxy": `(() => { const { proxy, revoke } = Proxy.revocable(function () {}, {}); revoke(); return proxy })()`,
  "an object that inherits from a Proxy": `Object.create(${proxy})`,
  "a list that inherits from a Proxy": `Object.setPrototypeOf([1], ${proxy})`,
  "an error that inherits from a Proxy": `Object.setPrototypeOf(new Error("x"), ${proxy})`,
  "a function that inherits from a Proxy": `Object.setPrototypeOf(() => 1, ${proxy})`,
  "an object whose constructor is a Proxy": `Object.create({ constructor: new Proxy(class {}, { ${throwing} }) })`,
  "an error whose message throws": `Object.defineProperty(new Error("x"), "message", { get() { throw new Error("message") } })`,
  "an error whose stack throws": `Object.defineProperty(new Error("x"), "stack", { get() { throw new Error("stack") } })`,
  "a Map whose size throws": `new (class extends Map { get size() { throw new Error("size") } })()`,
  "a Map whose size is a text": `new (class extends Map { get size() { return "large" } })()`,
  "bytes whose length throws": `new (class extends Uint8Array { get byteLength() { throw new Error("length") } })(2)`,
  "an object that looks like a Map": "Object.create(Map.prototype)",
  "a view of a transferred buffer": `(() => { const view = new DataView(new ArrayBuffer(8)); structuredClone(view.buffer, { transfer: [view.buffer] }); return view })()`,
}

/** Everything that reads all names of a runtime. */
async function useAllNames(runtime: Runtime): Promise<string[]> {
  const names = (await runtime.names()).map(({ name }) => name)
  await runtime.describe()
  await runtime.describe(names)
  const taken = await runtime.snapshot?.()
  assert.ok(taken)
  const first = await runtime.snapshot?.({ since: "" })
  await runtime.snapshot?.({ since: first?.hash })
  assert.equal((await runtime.execute("throw new Error('undone')", { transaction: true })).ok, false)
  return names
}

for (const [title, code] of Object.entries(unreadable)) {
  test(`jsRuntime goes on after a cell that made ${title}`, async () => {
    const runtime = jsRuntime({})
    await runtime.execute(`const made = ${code}\nconst list = [made]\nconst total = 3\nundefined`)
    assert.deepEqual(await useAllNames(runtime), ["made", "list", "total"])
    await using fork = await runtime.fork?.()
    assert.equal(fork && (await cellValue(fork, "total")), 3)
  })
}

test("processRuntime goes on after cells that made values of all these kinds", async () => {
  await using runtime = processRuntime({})
  for (const [at, code] of Object.values(unreadable).entries())
    await runtime.execute(`const made${at} = ${code}\nconst list${at} = [made${at}]\nundefined`)
  assert.equal((await useAllNames(runtime)).length, 2 * Object.keys(unreadable).length)
})

test("pythonRuntime goes on after cells that made objects that cannot be read", {
  skip: requires("python"),
}, async () => {
  await using runtime = pythonRuntime({})
  const methods = ["__getattribute__", "__repr__", "__len__", "__iter__", "__bool__", "__eq__"]
  const failing = methods.map((method) => `    def ${method}(self, *args): raise RuntimeError("${method}")`).join("\n")
  // As the objects of some web frameworks outside of a request.
  const proxy = '    @property\n    def __class__(self): raise RuntimeError("outside of a request")'
  for (const members of [failing, proxy]) {
    await runtime.execute(`class Made:\n${members}\nmade = Made()\nvalues = [made]\ntable = {"made": made}\ntotal = 3`)
    const names = (await runtime.names()).map(({ name }) => name)
    assert.deepEqual(names, ["Made", "made", "values", "table", "total"])
    assert.match(await runtime.describe(names), /^made: Made$/m)
    const { lost } = (await runtime.snapshot?.()) ?? {}
    assert.deepEqual(lost?.map(({ name }) => name).sort(), ["Made", "made", "table", "values"])
  }
  assert.equal(await cellValue(runtime, "total"), 3)
})

test("jsRuntime goes on after a cell that put values of all these kinds into an object of the host", async () => {
  for (const [title, code] of Object.entries(unreadable)) {
    class Box {
      held: unknown = 1
    }
    const box = new Box()
    const runtime = jsRuntime({ box })
    await runtime.execute(`box.held = ${code}\nundefined`)
    assert.deepEqual(await useAllNames(runtime), ["box", "Box"], title)
    assert.equal(await cellValue(jsRuntime({ box }), "typeof box"), "object", title)
  }
})

test("retrieve names the value that cannot be read and says what to do", async () => {
  const code = `const made = ${proxy}\nundefined`
  const runtime = jsRuntime({})
  await runtime.execute(code)
  await assert.rejects(runtime.retrieve("made"), {
    name: "ConfigError",
    message:
      '"made" cannot be read: its getter or Proxy threw Error: get. Let a cell put plain data under another name, and ' +
      "retrieve that.",
  })
  await using child = processRuntime({})
  await child.execute(code)
  await assert.rejects(child.retrieve("made"), /"made" cannot be read: its getter or Proxy threw Error: get\./)
})

describe("after a cell that forgot an `await`", () => {
  class Order {
    total = 3
    note = ""
    add(item: string) {
      return item
    }
  }

  test("processRuntime goes on", async () => {
    await using runtime = processRuntime({ order: new Order() })
    for (const code of [
      "const read = order.total",
      "const list = [order.total]",
      "const record = { total: order.total }",
      "const { note = 'none' } = order",
      "const added = order.add('pen')",
    ])
      await runtime.execute(`${code}\nundefined`)
    assert.deepEqual(await useAllNames(runtime), ["order", "read", "list", "record", "note", "added"])
    assert.equal(await cellValue(runtime, "await order.total"), 3)
  })

  test("a session takes the next message", async () => {
    await using runtime = processRuntime({ order: new Order() })
    assert.match(errorOf(await runtime.execute("const total = order.total")).message, /write `await order\.total`/)
    const model = scriptedModel(["```ts\nconst again = order.total\n```", "I forgot an await.", "It is 3."])
    await using session = await createAgent({ model, runtime }).session()
    assert.equal((await session.send("What is the total?")).status, "done")
    assert.equal((await session.send("And now?")).output, "It is 3.")
  })
})
