// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { Json } from "../../../../src/core/json.ts"
import { decodePython } from "../../../../src/runtime/handles/codec/python-decode.ts"
import { encodePython } from "../../../../src/runtime/handles/codec/python-encode.ts"
import { CannotCross, ForgedMessage } from "../../../../src/runtime/handles/wire.ts"
import { table } from "../../../../src/runtime/python/tables/table.ts"

const live = () => "called"
const decode = (json: Json, buffers: readonly Uint8Array[] = []) =>
  decodePython(
    json,
    { buffers, special: true },
    { decodeHostObject: () => live, decodeHostMethod: () => live, decodePeerObject: () => live },
  )
const encode = (value: unknown, name = "x") =>
  encodePython(value, name, {
    isHandle: () => false,
    encodeReference: (_value, where) => ({ $: "h", id: 1, b: where }),
  })

describe("values from Python", () => {
  test("that our own kernel never sends are forged", () => {
    for (const json of [
      ...[{ $: "zzz" }, { $: null }, { $: {} }, { $: "n", v: "0x" }, { $: "n", v: {} }, { $: "d", v: 1e300 }],
      ...[
        { $: "b", i: 9 },
        { $: "b", i: "length" },
        { $: "m", e: 5 },
        { $: "m", e: [5] },
        { $: "o", e: [[{}, 2]] },
      ],
      ...[
        { $: "s", e: null },
        { $: "a", t: "toString", i: 0 },
        { $: "a", t: "int", i: 0 },
        { $: "t", n: 1e9, c: [] },
      ],
      ...[
        { $: "t", n: -1, c: [] },
        { $: "t", n: 1, c: [{ name: "a", kind: "text", i: 0 }] },
      ],
      ...[
        { $: "r", n: 1 },
        { $: "r", n: -1 },
        { $: "q", n: 1 },
        { $: "q", n: 1, v: [{ $: "r", n: 1 }] },
        [{ $: "q", n: 1 }, { a: { $: "r", n: 1 } }],
        Array.from({ length: 100 }, (_, n) => ({ $: "q", n, v: [{ $: "r", n: n + 1 }] })),
      ],
    ] as Json[]) {
      assert.throws(() => decode(json, [new Uint8Array(3)]), ForgedMessage, JSON.stringify(json))
    }
    let deep: Json = 1
    for (let level = 0; level < 300; level++) deep = [deep]
    assert.throws(() => decode(deep), /nested too deeply/)
  })

  test("that are in several places are one object, in whatever order they come", () => {
    const shared = decode({
      first: [{ $: "q", n: 1 }, 5],
      2: { $: "r", n: 1 },
      own: [
        { $: "q", n: 2, v: { a: 1 } },
        { $: "r", n: 2 },
      ],
    })
    assert.deepEqual(shared, { first: [5], 2: [5], own: [{ a: 1 }, { a: 1 }] })
    const found = shared as { first: object; 2: object; own: [object, object] }
    assert.ok(found.first === found[2] && found.own[0] === found.own[1])
    assert.throws(() => decode([{ $: "q", n: 1, v: { $: "h", id: 1 } }, { then: { $: "r", n: 1 } }]), CannotCross)
  })

  test("that hold a function where the language would call it do not arrive", () => {
    for (const key of ["then", "toJSON", "toString", "valueOf"]) {
      const handle = { $: "h", id: 1 }
      for (const json of [
        { [key]: handle },
        [{ a: { [key]: { $: "p", id: 1, type: "function" } } }],
        { $: "o", e: [[key, handle]] },
        { $: "m", e: [["a", { [key]: { $: "hm", of: handle, name: "f" } }]] },
        { $: "t", n: 1, c: [{ name: key, kind: "values", v: [handle] }] },
      ]) {
        assert.throws(() => decode(json), { name: "CannotCross", message: new RegExp(`function under "${key}"`) })
      }
      assert.deepEqual(decode({ $: "m", e: [[key, handle]] }), new Map([[key, live]]))
    }
  })

  test("of any form decode, are forged or cannot cross, and change no prototype", () => {
    const chance = random(5)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(chance() * items.length)] as T
    const make = (depth: number): Json => {
      const leaf = pick<Json>([null, true, 0, -1, 1.5, 2 ** 53, "", "x", "__proto__", "toString", "int", "float64", []])
      if (depth === 0) return leaf
      const keys = ["$", "e", "v", "i", "t", "c", "n", "name", "kind", "id", "of", "type", "then", "__proto__"]
      const tags = ["n", "f", "d", "b", "a", "t", "m", "o", "s", "h", "hm", "p", "r", "q", "sh", "k", "zzz"]
      return pick<() => Json>([
        () => leaf,
        () => [make(depth - 1), make(depth - 1)],
        () => Object.fromEntries([1, 2, 3].map(() => [pick(keys), make(depth - 1)])),
        () => ({ $: pick(tags), ...Object.fromEntries(keys.slice(1, 9).map((key) => [key, make(depth - 1)])) }),
      ])()
    }
    for (let round = 0; round < 20_000; round++) {
      const json = make(4)
      try {
        decode(json, [new Uint8Array(8), new Uint8Array(3)])
      } catch (error) {
        assert.ok(ForgedMessage.is(error) || error instanceof CannotCross, `${JSON.stringify(json)}: ${error}`)
      }
    }
    assert.deepEqual([Object.keys(Object.prototype), Reflect.get({}, "x")], [[], undefined])
  })
})

describe("values on their way to Python", () => {
  test("that were 64-bit integers of numpy go back as such, unless they no longer are", () => {
    const bytes = new Uint8Array(new Float64Array([1, -2]).buffer)
    const numbers = decode({ $: "a", t: "int", i: 0 }, [bytes]) as number[]
    assert.deepEqual(numbers, [1, -2])
    assert.deepEqual(encode(numbers), { json: { $: "a", t: "int", i: 0 }, buffers: [bytes], special: true })
    numbers.push(0.5)
    assert.deepEqual(encode(numbers).json, [1, -2, 0.5])
    assert.deepEqual(encode([1, -2]).json, [1, -2])
  })

  test("name the place of what they hold", () => {
    const { json } = encode({ lamps: [{ it: () => 1 }] }, "house")
    assert.deepEqual(json, { lamps: [{ $: "h", id: 1, b: "house.lamps[0]" }] })
    assert.throws(() => encode({ a: [Symbol("s")] }, "data"), {
      message: /^data\.a\[0\] cannot cross to Python: a symbol/,
    })
    assert.throws(() => encode({ values: { late: Promise.resolve() } }, ""), {
      message: /^late cannot cross.*await it/,
    })
  })

  test("are one object where they are one, also within themselves", () => {
    const shared = { a: 1 }
    assert.deepEqual(encode([shared, shared]).json, [{ a: 1 }, { $: "r", p: ["v", 0] }])
    const own: Record<string, unknown> = {}
    own.self = own
    assert.deepEqual(encode(own).json, { self: { $: "r", p: ["v"] } })
    assert.deepEqual(encode({ values: { x: shared, y: shared } }, "").json, {
      values: { x: { a: 1 }, y: { $: "r", p: ["values", "x"] } },
    })
  })

  test("keep keys that JSON could not carry, and tables their columns", () => {
    assert.deepEqual(encode({ $: 1 }).json, { $: "o", e: [["$", 1]] })
    assert.deepEqual(encode(table([{ a: 1 }, { a: 2 }])).json, { $: "t", n: 2, c: [{ name: "a", kind: "int", i: 0 }] })
  })
})

function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
