import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { processRuntime } from "../../../src/runtime/process.ts"
import { cellValue } from "../cells.ts"

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
    // Refused by name: see the test of it.
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
  const own = await runtime.retrieve("own")
  assert.ok(own instanceof AggregateError)
  assert.equal(own.cause, "why")
  assert.ok(own.errors[0] instanceof RangeError)
})

test("what cannot leave its process is an error that names the place", async () => {
  await using runtime = processRuntime()
  await cellValue(
    runtime,
    `class Point { x = 1 }
     const report = { rows: [{ ok: 1 }, { at: new Point() }], "odd key": [() => 1] }
     const list = [1, () => 2]
     const f = function named() {}
     const map = new Map([["k", new Point()]])
     const set = new Set([Symbol("s")])
     const now = { get time() { return 1 } }
     1`,
  )
  const refused = async (name: string, message: RegExp) => {
    await assert.rejects(runtime.retrieve(name), (error: Error) => {
      assert.match(error.message, message)
      return true
    })
  }
  await refused("report", /report\.rows\[1\]\.at is Point \{ x: 1 \}/)
  await refused("list", /list\[1\] is \[Function/)
  await refused("f", /f is \[Function: named\] and cannot leave its process: its code stays here/)
  await refused("Point", /Point is \[class Point\]/)
  await refused("map", /map\.get\('k'\) is Point/)
  await refused("set", /an element of set is Symbol\(s\)/)
  await refused("now", /now is \{ time: \[Getter\] \}/)
})

test("a trailing value that cannot cross is shown all the same", async () => {
  await using runtime = processRuntime()
  const execution = await runtime.execute("class Point { x = 1 }; new Point()")
  assert.ok(execution.ok)
  assert.equal(execution.value, undefined)
  assert.equal(execution.preview, "Point { x: 1 }")
})

test("arguments that cannot cross are refused before anything is called", async () => {
  let called = 0
  await using runtime = processRuntime({ take: () => ++called })
  const code = "await take({ deep: [() => 1] }).catch((error) => error.message)"
  assert.match(String(await cellValue(runtime, code)), /the arguments\[0\]\.deep\[0\] is \[Function/)
  assert.equal(called, 0)
})

test("a host function given back is the very function", async () => {
  const add = (a: number, b: number) => a + b
  const given: unknown[] = []
  await using runtime = processRuntime({ add, give: (value: unknown) => given.push(value) })
  assert.equal(await runtime.retrieve("add"), add)
  await cellValue(runtime, "await give(add)")
  assert.deepEqual(given, [add])
})

test("keys that would change a prototype do not cross", async () => {
  await using runtime = processRuntime({ data: JSON.parse('{"a": 1}') })
  await assert.rejects(runtime.update({ data: JSON.parse('{"__proto__": {"polluted": true}}') }), /"__proto__"/)
  await cellValue(runtime, `const evil = JSON.parse('{"__proto__": {"polluted": true}}'); 1`)
  await assert.rejects(runtime.retrieve("evil"), /"__proto__"/)
  assert.equal(Reflect.get({}, "polluted"), undefined)
  assert.equal(await cellValue(runtime, "evil !== undefined"), true)
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
  await assert.rejects(runtime.update({ rows: Object.assign([1], { odd() {} }) }), /cannot cross/)
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
