import assert from "node:assert/strict"
import { test } from "node:test"
import { serialize } from "node:v8"
import { AgentError } from "../../../src/core/errors.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { Runtime, RuntimeLoss, RuntimeSnapshot } from "../../../src/runtime/runtime.ts"
import type { Payload } from "../../../src/runtime/snapshot/payload.ts"
import { encodeSnapshot, hashOf } from "../../../src/runtime/snapshot/snapshot-bytes.ts"
import fc from "../../property.ts"
import { cellValue } from "../cell-results.ts"

async function snapshotOf(code: string): Promise<RuntimeSnapshot> {
  const runtime = jsRuntime()
  await cellValue(runtime, code)
  const snapshot = await runtime.snapshot?.()
  assert.ok(snapshot)
  return snapshot
}

function signed(data: Uint8Array): RuntimeSnapshot {
  return { version: 1, language: "typescript", data, hash: hashOf(data), lost: [] }
}

/** Returns a forged snapshot with a valid hash. */
function forged(parts: { [key in keyof Payload]?: unknown }): RuntimeSnapshot {
  const empty: Payload = {
    names: [],
    contents: [],
    injected: [],
    constants: [],
    declarations: [],
    references: [],
    places: [],
    fillings: [],
    prototypes: [],
    properties: [],
    statics: [],
    closed: [],
  }
  return signed(encodeSnapshot({ ...empty, ...parts }))
}

async function restored(runtime: Runtime, snapshot: RuntimeSnapshot): Promise<RuntimeLoss[]> {
  const lost = await runtime.restore?.(snapshot)
  assert.ok(lost)
  return lost
}

const invalid = (error: unknown) => error instanceof AgentError && error.code === "invalid-snapshot"

/** Declares code from a forged snapshot and checks that none of it runs. */
async function declaring(source: string, name = "evil"): Promise<RuntimeLoss[]> {
  const runtime = jsRuntime({ tick: () => assert.fail("it ran") })
  const entry = [name, undefined]
  const lost = await restored(
    runtime,
    forged({
      names: [entry],
      declarations: [{ name, source, known: ["tick"] }],
      references: [{ type: "code", declaration: 0 }],
      places: [[entry, 1, 0]],
    }),
  )
  assert.equal(await cellValue(runtime, `typeof ${name}`), "undefined")
  return lost
}

test("bytes that were changed are refused, and nothing has happened", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let here = 1")
  const snapshot = await snapshotOf("let a = 'text'")
  const data = Uint8Array.from(snapshot.data)
  data[data.length - 3] = (data.at(-3) ?? 0) ^ 1
  await assert.rejects(restored(runtime, { ...snapshot, data }), invalid)
  assert.equal(await runtime.retrieve("here"), 1)
})

test("another version, another language, no bytes and foreign bytes are refused with the reason", async () => {
  const runtime = jsRuntime()
  const snapshot = await snapshotOf("let a = 1")
  const wrong: [object, RegExp][] = [
    [{ version: 2 }, /version 2/],
    [{ language: "python" }, /python/],
    [{ data: "text" }, /no bytes/],
    [{ hash: "00" }, /hash/],
    [signed(new Uint8Array()), /first bytes/],
    [signed(serialize({ names: [] })), /first bytes/],
    [signed(snapshot.data.subarray(0, 40)), /damaged/],
    [signed(encodeSnapshot("text")), /form/],
    [signed(encodeSnapshot({ names: [] })), /form/],
  ]
  for (const [parts, message] of wrong) {
    await assert.rejects(restored(runtime, { ...snapshot, ...parts }), (error) => {
      assert.ok(invalid(error))
      assert.match(String(error), message)
      return true
    })
  }
})

test("random damage is an error or a namespace, never a crash", async () => {
  const snapshot = await snapshotOf(
    "class A { x = 1 } const data = [new A(), new Map([[1, { f: () => 1 }]]), new Float64Array(2), new TypeError('x')]; const f = () => 1",
  )
  const flips = fc.array(fc.tuple(fc.nat(snapshot.data.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(flips, async (changes) => {
      const data = Uint8Array.from(snapshot.data)
      for (const [at, byte] of changes) data[at] = byte
      await using runtime = jsRuntime()
      await restored(runtime, signed(data)).catch((error: unknown) => assert.ok(invalid(error), String(error)))
      assert.equal(await cellValue(runtime, "1 + 1"), 2)
    }),
    { numRuns: 150 },
  )
})

test("what is no declaration does not run", async () => {
  for (const source of [
    "tick()",
    "const evil = tick()",
    "const evil = (() => tick())()",
    "const evil = () => 1; tick()",
    "let evil = () => 1",
    "const evil = () => 1, other = tick()",
    "const { evil = tick() } = {}",
    "export default tick()",
    "import evil from 'node:fs'",
    "",
    "const evil = (",
  ]) {
    const lost = await declaring(source)
    assert.equal(lost[0]?.name, "evil", source)
  }
})

test("a class whose declaration would run code is not declared", async () => {
  for (const source of [
    "class evil { static { tick() } }",
    "class evil { static x = tick() }",
    "class evil { [tick()]() {} }",
    "class evil extends tick() {}",
    "const evil = class { static x = tick() }",
    "class evil extends (tick(), Object) {}",
  ]) {
    const lost = await declaring(source)
    assert.equal(lost[0]?.name, "evil", source)
  }
})

test("a declaration under another name than its own is not declared", async () => {
  const [lost] = await declaring("function other() {}")
  assert.match(lost?.reason ?? "", /more than a declaration/)
})

test("names that cannot be names are left out", async () => {
  const runtime = jsRuntime()
  const lost = await restored(
    runtime,
    forged({ names: ["a b", "await", "$$scope", "__proto__", "fine"].map((name) => [name, 1]) }),
  )
  assert.deepEqual(
    lost.map(({ name }) => name),
    ["a b", "await", "$$scope"],
  )
  assert.deepEqual(
    (await runtime.names()).map(({ name }) => name),
    ["__proto__", "fine"],
  )
  assert.equal(Reflect.get({}, "polluted"), undefined)
})

test("references reach neither the properties of the host's objects nor those of the platform", async () => {
  const host = { f: () => 1, list: [1] }
  const runtime = jsRuntime({ host })
  const target = {}
  await restored(
    runtime,
    forged({
      references: [
        { type: "binding", name: "host" },
        { type: "global", name: "Object" },
        { type: "global", name: "process" },
      ],
      statics: [
        [0, { list: "gone" }],
        [1, { polluted: 1 }],
      ],
      prototypes: [[1, [target]]],
      names: [["target", target]],
      places: [
        [target, "object", 1],
        [target, "process", 2],
      ],
    }),
  )
  assert.deepEqual(host.list, [1])
  assert.equal(Reflect.get(Object, "polluted"), undefined)
  assert.equal(await cellValue(runtime, "target.object === Object && target.process"), undefined)
})

test("numbers that lead nowhere do no harm", async () => {
  const runtime = jsRuntime()
  const entry = ["a", { n: 1 }]
  const lost = await restored(
    runtime,
    forged({
      names: [entry],
      declarations: [{ name: "A", source: "class A extends B {}", known: [], superclass: ["B", 7] }],
      references: [
        { type: "code", declaration: 9 },
        { type: "error", name: "Odd", class: 4, properties: { message: "x" } },
        { type: "codec", codec: "toString", data: {} },
      ],
      places: [
        [entry[1], "f", 0],
        [entry[1], "g", 99],
        [entry[1], "e", 1],
        [entry[1], "c", 2],
      ],
      prototypes: [[5, [{}]]],
      closed: [[{}, 9]],
    }),
  )
  assert.deepEqual(
    lost.map(({ name }) => name),
    ["A", "toString"],
  )
  assert.deepEqual(await cellValue(runtime, "[a.n, a.f, a.c, a.e instanceof Error, a.e.message]"), [
    1,
    undefined,
    undefined,
    true,
    "x",
  ])
})

test("a getter or toJSON in forged data is data: nothing of it is called", async () => {
  const runtime = jsRuntime()
  await restored(runtime, forged({ names: [["a", { toJSON: 1, then: 2, constructor: 3, [Symbol.toPrimitive]: 4 }]] }))
  assert.deepEqual(await cellValue(runtime, "Object.keys(a)"), ["toJSON", "then", "constructor"])
})
