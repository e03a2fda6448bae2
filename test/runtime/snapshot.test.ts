import assert from "node:assert/strict"
import { test } from "node:test"
import { ConfigError } from "../../src/core/errors.ts"
import type { Bindings } from "../../src/runtime/bindings.ts"
import { type JsRuntimeOptions, jsRuntime } from "../../src/runtime/js.ts"
import type { RuntimeLoss, RuntimeSnapshot } from "../../src/runtime/runtime.ts"
import { decodeSnapshot } from "../../src/runtime/snapshot/snapshot-bytes.ts"
import { retrieveAny } from "../retrieve-any.ts"
import { cellValue } from "./cell-results.ts"

class Light {
  brightness = 100
  name: string
  constructor(name = "lamp") {
    this.name = name
  }
}

/** Returns a new runtime with the snapshot of a cell. */
async function moved(code: string, bindings: () => Bindings = () => ({}), options?: JsRuntimeOptions) {
  const first = jsRuntime(bindings(), options)
  await cellValue(first, code)
  const snapshot = await taken(first)
  const runtime = jsRuntime(bindings(), options)
  const lost = await runtime.restore?.(snapshot)
  const value = (cell: string) => cellValue(runtime, cell)
  return { runtime, snapshot, lost, value }
}

async function taken(runtime: { snapshot?(): Promise<RuntimeSnapshot> }): Promise<RuntimeSnapshot> {
  const snapshot = await runtime.snapshot?.()
  assert.ok(snapshot)
  return snapshot
}

const told = (lost: RuntimeLoss[] | undefined) =>
  lost?.map(({ name, path = "", reason }) => `${name}${path}: ${reason}`)

test("plain values of every kind come back", async () => {
  const { value, lost } = await moved(`
    let text = "x", n = -0, nothing = null, missing = undefined, big = 10n, nan = NaN, yes = true
    let date = new Date(5), pattern = /a+/gi, boxed = new Number(3)
    let map = new Map([["a", 1]]), set = new Set([1, "2"])
    let holes = [1, , 3], bytes = new Uint8Array([1, 2]), buffer = Buffer.from("hi"), view = new DataView(new ArrayBuffer(2))
  `)
  assert.deepEqual(lost, [])
  assert.deepEqual(await value("[text, n, nothing, missing, big, nan, yes]"), [
    "x",
    -0,
    null,
    undefined,
    10n,
    Number.NaN,
    true,
  ])
  assert.deepEqual(await value("[date, pattern, boxed, map, set]"), [
    new Date(5),
    /a+/gi,
    new Number(3),
    new Map([["a", 1]]),
    new Set([1, "2"]),
  ])
  assert.deepEqual(await value("[1 in holes, holes.length, [...bytes], buffer.toString(), view.byteLength]"), [
    false,
    3,
    [1, 2],
    "hi",
    2,
  ])
  assert.equal(await value("buffer instanceof Buffer"), true)
})

test("what is shared between names stays shared, and cycles close", async () => {
  const { value } = await moved(`
    const row = { n: 1 }; const rows = [row, row]; const index = new Map([[row, rows]])
    const loop = { rows }; loop.self = loop
  `)
  assert.equal(await value("rows[0] === row && rows[1] === row && index.get(row) === rows && loop.self === loop"), true)
  assert.equal(await value("row.n = 5; loop.rows[1].n"), 5)
})

test("views of the same bytes stay views of the same bytes", async () => {
  const { value } = await moved(`
    const bytes = new ArrayBuffer(8); const one = new Uint8Array(bytes, 2, 4); const two = new Uint16Array(bytes)
  `)
  assert.equal(
    await value("one[0] = 7; [two[1], one.buffer === bytes, one.byteOffset, one.length].join()"),
    "7,true,2,4",
  )
})

test("of a pooled buffer nothing but its own bytes is written", async () => {
  const secret = Buffer.from("the secret of somebody else")
  const runtime = jsRuntime()
  await cellValue(runtime, "const mine = Buffer.from('mine')")
  assert.equal(await cellValue(runtime, "mine.buffer.byteLength"), secret.buffer.byteLength)
  const { data } = await taken(runtime)
  assert.equal(Buffer.from(data).includes("secret"), false)
  assert.ok(data.length < 1000)
})

test("null prototypes, hidden, constant and frozen properties come back", async () => {
  const { value } = await moved(`
    const bare = Object.create(null); bare.a = { frozen: Object.freeze({ list: Object.freeze([1]) }) }
    const hidden = Object.defineProperty({}, "h", { value: bare })
    const closed = Object.preventExtensions({ a: 1 }); const sealed = Object.seal({ a: 1 })
  `)
  assert.equal(await value("Object.getPrototypeOf(bare)"), null)
  assert.equal(await value("Object.isFrozen(bare.a.frozen) && Object.isFrozen(bare.a.frozen.list)"), true)
  assert.equal(await value("hidden.h === bare && Object.keys(hidden).length"), 0)
  assert.deepEqual(await value("[Object.isExtensible(closed), Object.isFrozen(closed), Object.isSealed(sealed)]"), [
    false,
    false,
    true,
  ])
})

test("an own property named __proto__ stays a property", async () => {
  const { value } = await moved('const odd = JSON.parse(\'{"__proto__": {"polluted": 1}}\'); odd.f = () => 1')
  assert.equal(await value("odd.polluted"), undefined)
  assert.deepEqual(await value("Object.keys(odd)"), ["__proto__", "f"])
})

test("properties of arrays, maps and patterns are kept", async () => {
  const { value } = await moved(`
    const list = Object.assign([1], { total: 3 }); const map = Object.assign(new Map(), { label: list })
    const pattern = /a/g; pattern.lastIndex = 2
  `)
  assert.deepEqual(await value("[list.total, map.label === list, pattern.lastIndex]"), [3, true, 2])
})

test("errors keep their type, message, stack, cause and own properties", async () => {
  const { value } = await moved(`
    const cause = { n: 1 }
    const error = Object.assign(new TypeError("bad", { cause }), { code: "E_BAD" })
    const all = new AggregateError([error], "many"); error.all = all
    class AppError extends Error { name = "AppError" }
    const own = new AppError("mine")
  `)
  assert.equal(await value("error instanceof TypeError && error.cause === cause && error.all === all"), true)
  assert.deepEqual(await value("[error.message, error.code, all.errors[0] === error, own.name, own.message]"), [
    "bad",
    "E_BAD",
    true,
    "AppError",
    "mine",
  ])
  assert.equal(
    await value("own instanceof AppError && own instanceof Error && error.stack.startsWith('TypeError: bad')"),
    true,
  )
  assert.deepEqual(await value("Object.keys(error)"), ["code", "all"])
})

test("names that could not be assigned to still cannot, and names keep their order", async () => {
  const { runtime } = await moved("let b = 1; const a = 2")
  assert.deepEqual(
    (await runtime.names()).map(({ name }) => name),
    ["b", "a"],
  )
  const execution = await runtime.execute("b = 5; a = 5")
  assert.ok(!execution.ok)
  assert.match(execution.error.message, /constant/)
})

test("a restored name counts as known: the next cell has not made it", async () => {
  const { runtime } = await moved("let n = 1")
  const { changes } = await runtime.execute("let m = 2")
  assert.deepEqual(changes, { created: ["m"], reassigned: [], removed: [] })
  assert.equal(await runtime.keep("n", 1), "n_1")
})

test("injected objects are bound again by name, and data that pointed to them points to the new ones", async () => {
  const made: Light[] = []
  const bindings = () => {
    const light = new Light()
    made.push(light)
    return { light, send: () => 1, Light }
  }
  const { value, lost } = await moved(
    "light.brightness = 3; const note = { owner: light, via: send, type: Light }; const same = light; const by = new Map([[light, 'x']]); const all = new Set([light])",
    bindings,
  )
  assert.deepEqual(told(lost), ["light: it is created anew by the program; what cells changed in it is lost"])
  assert.equal(await value("note.owner"), made[1])
  assert.equal(await value("same === light && note.owner === light && by.get(light) === 'x' && all.has(light)"), true)
  assert.equal(await value("note.via === send && note.type === Light && by.size"), 1)
  assert.equal(made[1]?.brightness, 100)
})

test("injected data has the contents that cells gave it, in the host's own new object", async () => {
  const hosts: unknown[][] = []
  const bindings = () => {
    const tasks: unknown[] = [{ id: 0 }]
    const config = new Map([["a", 1]])
    hosts.push(tasks)
    return { tasks, config, add: (task: unknown) => tasks.push(task), seen: { n: 0 } }
  }
  const { value } = await moved(
    "await add({ id: 1 }); config.set('b', tasks); seen.tasks = tasks; seen.n = 2",
    bindings,
  )
  assert.deepEqual(hosts[1], [{ id: 0 }, { id: 1 }])
  assert.equal(await value("tasks === config.get('b') && seen.tasks === tasks && seen.n"), 2)
  await value("await add({ id: 2 })")
  assert.equal(hosts[1]?.length, 3)
})

test("an injected name that a cell gave another value has that value", async () => {
  const { value } = await moved("count = 5; light = 'off'", () => ({ count: 1, light: new Light() }))
  assert.deepEqual(await value("[count, light]"), [5, "off"])
})

test("injected data that holds more than data is bound again as given, and that is told", async () => {
  const { value, lost } = await moved("store.items.push(1)", () => ({ store: { items: [] as number[], add() {} } }))
  assert.deepEqual(told(lost), ["store: it is created anew by the program; what cells changed in it is lost"])
  assert.deepEqual(await value("store.items"), [])
})

test("what was injected then and is not now is named, and is undefined where data pointed to it", async () => {
  const first = jsRuntime({ light: new Light() })
  await cellValue(first, "const note = { owner: light }")
  const runtime = jsRuntime()
  assert.deepEqual(told(await runtime.restore?.(await taken(first))), [
    "light: it was injected, and is not in this runtime",
  ])
  assert.deepEqual(await cellValue(runtime, "note"), { owner: undefined })
})

test("what cannot be kept is named with its place and reason, and the rest of the value is kept", async () => {
  const { value, snapshot, lost } = await moved(`
    const data = { deep: [{ run: () => 1, n: 1 }], when: Promise.resolve(1), id: Symbol("x"), weak: new WeakMap(), ok: 1 }
    const gen = (function* () { yield 1 })(); const url = new URL("http://a.b"); const bound = data.deep[0].run
    const keyed = { [Symbol("k")]: 1, get now() { throw new Error("called") } }; const entries = new Map([[() => 1, 1], ["f", () => 2]])
  `)
  assert.deepEqual(lost, snapshot.lost)
  assert.deepEqual(
    told(lost)?.sort(),
    [
      "bound: a function that no cell declared at its top level",
      "data.deep[0].run: a function that no cell declared at its top level",
      "data.id: a symbol",
      "data.weak: a WeakMap, which lives in its process only",
      "data.when: a promise",
      "entries (a key): a function that no cell declared at its top level",
      'entries.get("f"): a function that no cell declared at its top level',
      "gen: a generator",
      "keyed.now: an accessor",
      "keyed[Symbol(k)]: a symbol is its key",
      "url: a URL, which lives in its process only",
    ].sort(),
  )
  assert.deepEqual(await value("data"), {
    deep: [{ run: undefined, n: 1 }],
    when: undefined,
    id: undefined,
    weak: undefined,
    ok: 1,
  })
  assert.deepEqual(await value("[...entries]"), [["f", undefined]])
  assert.equal(await value("typeof url"), "undefined")
})

test("no accessor is called and no proxy entered", async () => {
  const runtime = jsRuntime()
  await runtime.keep("trap", new Proxy({}, new Proxy({}, { get: () => assert.fail("a trap ran") })))
  await cellValue(
    runtime,
    `
    let calls = 0
    const data = { get a() { return ++calls }, list: Object.defineProperty([1], 0, { get() { return ++calls }, enumerable: true }), trap: trap_1 }
  `,
  )
  await taken(runtime)
  assert.equal(await runtime.retrieve("calls"), 0)
})

test("imports are named with where to import them from", async () => {
  const { lost } = await moved(
    "import fs from 'node:fs'; import { join } from 'node:path'; const ns = await import('node:os')",
  )
  assert.deepEqual(told(lost), [
    'fs: it is an import: import it again from "node:fs"',
    'join: it is an import: import it again from "node:path"',
    "ns: a module: import it again",
  ])
})

test("objects and functions of the platform are found again by name", async () => {
  const { value } = await moved("const tools = { json: JSON, parse: parseInt, url: URL }")
  assert.equal(await value("tools.json === JSON && tools.parse === parseInt && tools.url === URL"), true)
})

test("the environment of the process is in no snapshot", async () => {
  const { snapshot, lost } = await moved("const env = process.env; const list = [process.env]")
  assert.deepEqual(told(lost), ["env: an object of the platform", "list[0]: an object of the platform"])
  assert.equal(Buffer.from(snapshot.data).includes("PATH"), false)
})

test("a codec keeps instances of a class of yours, shared ones once, nested ones too", async () => {
  class Pair {
    left: unknown
    right: unknown
    constructor(left: unknown, right: unknown) {
      this.left = left
      this.right = right
    }
  }
  const codecs = {
    Light: {
      class: Light,
      encode: (light: Light) => ({ name: light.name, brightness: light.brightness }),
      decode: (data: unknown) => Object.assign(new Light(), data),
    },
    Pair: {
      class: Pair,
      encode: ({ left, right }: Pair) => [left, right],
      decode: (data: unknown) => (Array.isArray(data) ? new Pair(data[0], data[1]) : assert.fail()),
    },
  }
  const bindings = () => ({ Light, Pair })
  const { value, lost } = await moved(
    "const lamp = new Light('desk'); const pair = new Pair(lamp, new Map([['again', lamp]])); const list = [lamp, pair]",
    bindings,
    { codecs },
  )
  assert.deepEqual(lost, [])
  assert.equal(await value("lamp instanceof Light && lamp.name"), "desk")
  assert.equal(
    await value("pair instanceof Pair && pair.left === lamp && pair.right.get('again') === lamp && list[1] === pair"),
    true,
  )
})

test("a codec brings the injected instance itself up to date", async () => {
  const lights: Light[] = []
  const codecs = {
    Light: {
      class: Light,
      encode: (light: Light) => light.brightness,
      decode: (data: unknown, current = new Light()) => Object.assign(current, { brightness: data }),
    },
  }
  const bindings = () => {
    const light = new Light()
    lights.push(light)
    return { light }
  }
  const { value } = await moved("light.brightness = 7; const same = [light]", bindings, { codecs })
  assert.equal(lights[1]?.brightness, 7)
  assert.equal(await value("light === same[0]"), true)
  assert.equal(await value("light"), lights[1])
})

test("an instance without a codec, and one whose codec fails, are named", async () => {
  const codecs = {
    Bad: {
      class: Date,
      encode: () => {
        throw new Error("cannot")
      },
      decode: () => new Date(),
    },
  }
  class When extends Date {}
  const { lost } = await moved("const light = new Light(); const when = new When()", () => ({ Light, When }), {
    codecs,
  })
  assert.deepEqual(told(lost), [
    "light: an instance of Light, which no cell declared: a codec for the class would keep it",
    "when: the codec Bad failed: cannot",
  ])
})

test("an unchanged namespace has the same hash, one that the same cells made too, and a changed one another", async () => {
  const code =
    "let rows = [{ id: 1, name: 'a' }]; const f = (n) => n + rows.length; class P { x = 1 } const p = new P()"
  const { runtime, snapshot } = await moved(code)
  assert.equal((await taken(runtime)).hash, (await taken(runtime)).hash)
  const again = jsRuntime()
  await cellValue(again, code)
  assert.equal((await taken(again)).hash, snapshot.hash)
  await cellValue(again, "rows[0].id = 2")
  assert.notEqual((await taken(again)).hash, snapshot.hash)
})

test("a snapshot of what was restored holds the same", async () => {
  const code =
    "const map = new Map([[{}, light]]); class A { #no = 1 } class B extends Array {} const b = B.from([1, light]); function f() {} f.n = b; const a = [new A()]"
  const { runtime, snapshot } = await moved(code, () => ({ light: new Light() }))
  const second = await taken(runtime)
  assert.deepEqual(decodeSnapshot(second.data), decodeSnapshot(snapshot.data))
  assert.deepEqual(
    snapshot.lost.map(({ name, path = "" }) => name + path),
    ["a[0]", "light"],
  )
})

test("the largest names are left out of a snapshot that would be too large, and named", async () => {
  const code =
    "const small = [1, 2]; const large = 'x'.repeat(100000); const larger = 'y'.repeat(200000); const also = { n: 1 }"
  const { value, snapshot, lost } = await moved(code, undefined, { maxSnapshotBytes: 150_000 })
  assert.ok(snapshot.data.length <= 150_000)
  assert.deepEqual(
    lost?.map(({ name }) => name),
    ["larger"],
  )
  assert.match(lost?.[0]?.reason ?? "", /^too large: of \d+ bytes, and a snapshot may have 150000$/)
  assert.deepEqual(await value("[small, large.length, also]"), [[1, 2], 100_000, { n: 1 }])
})

test("restoring replaces the namespace: what was there before is gone", async () => {
  const runtime = jsRuntime({ given: [1] })
  await cellValue(runtime, "let a = 1; given.push(2)")
  const snapshot = await taken(runtime)
  await cellValue(runtime, "a = 2; let b = 3; given.push(3)")
  await runtime.restore?.(snapshot)
  assert.deepEqual(
    (await runtime.names()).map(({ name }) => name),
    ["given", "a"],
  )
  assert.deepEqual(await cellValue(runtime, "[a, given]"), [1, [1, 2]])
})

test("a fork has the same names and host objects and its own data", async () => {
  const light = new Light()
  const tasks = [1]
  const runtime = jsRuntime({ light, tasks, send: () => "sent" })
  await runtime.inject({ later: "x" })
  await cellValue(runtime, "const row = { owner: light }; const rows = [row]; const count = () => rows.length")
  const fork = await runtime.fork?.()
  assert.ok(fork)
  await cellValue(fork, "rows.push(2); row.n = 1; tasks.push(2); light.brightness = 1")
  assert.deepEqual(await cellValue(fork, "[count(), row.owner === light, tasks, await send(), later]"), [
    2,
    true,
    [1, 2],
    "sent",
    "x",
  ])
  assert.deepEqual(await cellValue(runtime, "[count(), row.n, tasks]"), [1, undefined, [1]])
  assert.deepEqual(tasks, [1])
  assert.equal(light.brightness, 1)
  await fork.close()
  assert.equal(await cellValue(runtime, "count()"), 1)
})

test("a snapshot waits for the cell that is running, and restore and reset are refused within one", async () => {
  const runtime = jsRuntime({
    back: (snapshot: RuntimeSnapshot) => runtime.restore?.(snapshot),
    take: () => runtime.snapshot?.(),
  })
  const cell = runtime.execute("let n = 1; await new Promise((done) => setTimeout(done, 5)); n = 2")
  const snapshot = await taken(runtime)
  await cell
  await cellValue(runtime, "n = 3")
  await runtime.restore?.(snapshot)
  assert.equal(await retrieveAny(runtime, "n"), 2)
  const execution = await runtime.execute("await back(await take())")
  assert.ok(!execution.ok)
  assert.ok(execution.thrown instanceof ConfigError)
  assert.equal(await cellValue(runtime, "(await take()).language"), "typescript")
})

test("leftovers of cells from before a restore do nothing to what is there now", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let n = 1")
  const snapshot = await taken(runtime)
  await cellValue(runtime, "const timer = setInterval(() => n++, 1)")
  await runtime.restore?.(snapshot)
  await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(await runtime.retrieve("n"), 1)
})
