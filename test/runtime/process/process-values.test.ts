// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import fc from "../../property.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { cellValue } from "../cell-results.ts"

test("data crosses there and back as it is", async () => {
  await using runtime = processRuntime({ value: undefined as unknown })
  const shared = { a: 1 }
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const values: unknown[] = [
    null,
    undefined,
    -0,
    Number.NaN,
    10n ** 30n,
    "text \u{1f600}",
    new Date(0),
    /a+/giu,
    Object.assign(new Array(3), { 0: 1, 2: 3 }),
    new Map<unknown, unknown>([[{ key: 1 }, new Set([1, "2"])]]),
    new Uint8Array([1, 2, 3]),
    new Float64Array([1.5]),
    new BigInt64Array([5n]),
    Buffer.from("abc"),
    new ArrayBuffer(8),
    new DataView(new ArrayBuffer(2)),
    Object(5),
    [shared, shared],
    cycle,
    { "odd key": 1, "": 2 },
  ]
  for (const value of values) {
    await runtime.update({ value })
    assert.deepEqual(await runtime.retrieve("value"), value)
  }
  await runtime.update({ value: [shared, shared] })
  const pair = await runtime.retrieve("value")
  assert.ok(Array.isArray(pair) && pair[0] === pair[1])
})

test("what two injected names share is shared in the namespace", async () => {
  const rows = [1]
  await using runtime = processRuntime({ a: rows, b: { rows } })
  assert.equal(await cellValue(runtime, "a === b.rows"), true)
})

test("any JSON-like value survives the way there and back", async () => {
  await using runtime = processRuntime({ value: undefined as unknown })
  const anything = fc.anything({
    // Refused by name; another test covers it.
    key: fc.string().filter((key) => key !== "__proto__"),
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
  })
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      await runtime.update({ value })
      assert.deepEqual(await runtime.retrieve("value"), value)
    }),
    { numRuns: 200 },
  )
})

test("errors inside values cross with class, message, cause and fields", async () => {
  await using runtime = processRuntime({ failures: [Object.assign(new TypeError("t"), { code: "E1" })] })
  assert.deepEqual(await cellValue(runtime, "const [e] = failures; [e instanceof TypeError, e.message, e.code]"), [
    true,
    "t",
    "E1",
  ])
  await cellValue(runtime, "const own = new AggregateError([new RangeError('r')], 'many', { cause: 'why' }); 1")
  const own = await retrieveAny(runtime, "own")
  assert.ok(own instanceof AggregateError)
  assert.equal(own.cause, "why")
  assert.ok(own.errors[0] instanceof RangeError)
})

test("functions and instances of cells leave their process as handles", async () => {
  await using runtime = processRuntime()
  await cellValue(
    runtime,
    `class Point { x = 1; move(by) { this.x += by; return this.x } }
     const point = new Point()
     const report = { rows: [{ ok: 1 }, { at: point }], "odd key": [() => 1] }
     const named = function named(n) { return n * 2 }
     const map = new Map([["k", point]])
     const now = { get time() { return 1 } }
     1`,
  )
  const report = (await runtime.retrieve("report")) as { rows: { at: PointHandle }[]; "odd key": (() => unknown)[] }
  const at = report.rows[1]?.at
  assert.equal(await at?.x, 1)
  assert.equal(await at?.move(2), 3)
  assert.equal(await report["odd key"][0]?.(), 1)
  assert.equal(await ((await runtime.retrieve("named")) as (n: number) => Promise<number>)(4), 8)
  assert.equal(((await runtime.retrieve("map")) as Map<string, unknown>).get("k"), at)
  assert.equal(await ((await runtime.retrieve("now")) as { time: Promise<number> }).time, 1)
  assert.equal(await cellValue(runtime, "point.x"), 3)
})

interface PointHandle {
  x: Promise<number>
  move(by: number): Promise<number>
}

test("a symbol and a promise cannot leave their process, and the error names the place", async () => {
  await using runtime = processRuntime()
  await cellValue(runtime, `const set = new Set([Symbol("s")]); const list = [1, Promise.resolve(2)]; 1`)
  await assert.rejects(runtime.retrieve("set"), /an element of set is Symbol\(s\)/)
  await assert.rejects(runtime.retrieve("list"), /list\[1\] is a promise: await it first/)
})

test("a trailing value that cannot cross is shown all the same", async () => {
  await using runtime = processRuntime()
  const execution = await runtime.execute("[Symbol('s')]")
  assert.ok(execution.ok)
  assert.equal(execution.value, undefined)
  assert.equal(execution.preview, "[ Symbol(s) ]")
})

test("an array with too many holes cannot cross, and its cell and the session go on", async () => {
  await using runtime = processRuntime({ use: (value: unknown) => value })
  assert.equal(await cellValue(runtime, "const kept = 5\nkept"), 5)
  const shown = await runtime.execute("const far = []\nfar[2_000_000] = 1\n;({ far })")
  assert.ok(shown.ok, shown.ok ? "" : shown.error.message)
  assert.match(shown.preview ?? "", /2,000,001 items/)
  const thrown = await runtime.execute("throw far")
  assert.equal(thrown.ok, false)
  assert.match(
    String(await cellValue(runtime, "use(far).catch((error) => error.message)")),
    /more than 1000000 holes, which cannot cross/,
  )
  await assert.rejects(retrieveAny(runtime, "far"), /more than 1000000 holes, which cannot cross/)
  assert.equal(await cellValue(runtime, "kept"), 5)
})

test("arguments that cannot cross are refused before anything is called", async () => {
  let called = 0
  await using runtime = processRuntime({ take: () => ++called })
  const code = "await take({ deep: [Symbol('s')] }).catch((error) => error.message)"
  assert.match(String(await cellValue(runtime, code)), /Argument 1 of take\(…\), at \.deep\[0\], is Symbol/)
  assert.equal(called, 0)
})

test("a result that cannot cross is reported with the fact that the call was made", async () => {
  let called = 0
  await using runtime = processRuntime({ take: () => [Symbol(`s${++called}`)] })
  const code = "await take().catch((error) => `${error.name}: ${error.message}`)"
  assert.match(String(await cellValue(runtime, code)), /^CannotCross: take\(…\) was called, but .*is Symbol\(s1\)/)
  assert.equal(called, 1)
})

test("a host function that a cell passes on is one gated function, and the owner retrieves the very function", async () => {
  const add = (a: number, b: number) => a + b
  const given: unknown[] = []
  await using runtime = processRuntime({ add, give: (value: unknown) => given.push(value) })
  assert.equal(await runtime.retrieve("add"), add)
  await cellValue(runtime, "await give(add); await give([add])")
  const [first, second] = given as [(a: number, b: number) => Promise<number>, unknown[]]
  assert.equal(second[0], first)
  assert.equal(await first(1, 2), 3)
})

test("a key named __proto__ crosses as a key and changes no prototype", async () => {
  const data = JSON.parse('{"__proto__": {"polluted": true}}')
  await using runtime = processRuntime({ data })
  assert.deepEqual(await cellValue(runtime, "[Object.keys(data), data.polluted]"), [["__proto__"], undefined])
  await cellValue(runtime, `const evil = JSON.parse('{"__proto__": {"polluted": true}}'); 1`)
  const evil = (await retrieveAny(runtime, "evil")) as object
  assert.deepEqual(Object.keys(evil), ["__proto__"])
  assert.equal(Reflect.get(evil, "polluted"), undefined)
  assert.equal(Reflect.get({}, "polluted"), undefined)
})

test("a regular expression with any lastIndex crosses, and the names of cells stay", async () => {
  await using runtime = processRuntime({})
  await runtime.execute("const kept = 1")
  const execution = await runtime.execute("const found = /a/g\nfound.lastIndex = 'bcd'.indexOf('a')\nfound")
  assert.ok(execution.ok)
  assert.deepEqual([execution.value, execution.lost], [/a/g, undefined])
  assert.equal(await runtime.retrieve("kept"), 1)
})

test("a value nested too deeply is refused, and nothing breaks", async () => {
  await using runtime = processRuntime()
  await cellValue(runtime, "let deep = []; for (let i = 0; i < 200_000; i++) deep = [deep]; 1")
  await assert.rejects(runtime.retrieve("deep"), /nested too deeply/)
  assert.equal(await cellValue(runtime, "1 + 1"), 2)
})

test("an update that cannot cross is refused by its place, and the value stays", async () => {
  await using runtime = processRuntime({ rows: [{ a: 1 as unknown }] })
  await assert.rejects(
    runtime.update({ rows: [{ a: Symbol("s") }] }),
    /Nothing was updated: rows\[0\]\.a is Symbol\(s\)/,
  )
  assert.deepEqual(await runtime.retrieve("rows"), [{ a: 1 }])
})

test("large values cross whole", async () => {
  const bytes = new Uint8Array(20_000_000).fill(7)
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}`, value: id / 2 }))
  await using runtime = processRuntime({ bytes, rows })
  assert.equal(await cellValue(runtime, "bytes.length + rows.length"), 20_020_000)
  assert.deepEqual(await runtime.retrieve("rows"), rows)
})

test("a `toJSON` that a cell gave to all objects changes nothing of what crosses", async () => {
  await using runtime = processRuntime({ echo: (value: unknown) => value })
  await cellValue(runtime, "Object.prototype.toJSON = Array.prototype.toJSON = () => 'forged'; 1")
  assert.deepEqual(await cellValue(runtime, "await echo([{ a: 1 }])"), [{ a: 1 }])
})
