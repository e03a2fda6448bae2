// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Json } from "../../../../src/core/json.ts"
import { javaScriptCodec } from "../../../../src/runtime/handles/codec/javascript-codec.ts"
import { createFrameReader, encodeFrame } from "../../../../src/runtime/handles/socket-frames.ts"
import {
  CannotCross,
  type DecodeReferences,
  type EncodeReferences,
  ForgedMessage,
  type Frame,
} from "../../../../src/runtime/handles/wire.ts"
import { randomFrom } from "../seeded-random.ts"

/** Live objects are sent as numbers of this table. */
function table() {
  const live: object[] = []
  const find = (id: Json | undefined) => {
    const found = live[Number(id)]
    if (!found) throw new ForgedMessage("an object that was not sent")
    return found
  }
  const encode: EncodeReferences = {
    isHandle: () => false,
    encodeReference: (value) => ({ $: "h", id: live.push(value) - 1 }),
  }
  const decode: DecodeReferences = {
    decodeHostObject: ({ id }) => find(id),
    decodeHostMethod: () => () => "method",
    decodePeerObject: ({ id }) => find(id),
  }
  return { encode, decode, live }
}

const limits = { maxBytes: 1e9, maxSentBytes: 1e9, maxDepth: 4_000 }

/** Encodes, writes, reads and decodes a value. */
function crossed<T>(value: T): T {
  const { encode, decode } = table()
  const { json, buffers, special } = javaScriptCodec.encode(value, "the value", encode)
  let frame: Frame | undefined
  const problem = createFrameReader(limits, (read) => {
    frame = read
  })(Buffer.concat(encodeFrame({ message: { k: "reply", v: json }, buffers, special }, 1e9)))
  assert.equal(problem, undefined)
  assert.ok(frame)
  return javaScriptCodec.decode(frame.message.v ?? null, frame, decode) as T
}

/** Values that must arrive unchanged, by name. */
const values: Record<string, () => unknown> = {
  "numbers that JSON lacks": () => [-0, 0, Number.NaN, Infinity, -Infinity, 2 ** 53, 5e-324],
  "undefined and null": () => [undefined, null, { a: undefined, b: null }],
  bigints: () => [0n, -1n, 2n ** 200n, -(16n ** 99n)],
  texts: () => ["", "\u0000", "漢字", "\ud800", "__proto__", "$"],
  "a sparse array": () => Object.assign(new Array(5), { 0: 1, 2: 3 }),
  "an array that is only holes": () => new Array(50),
  "an array with named members": () => Object.assign([1, 2], { name: "x", "-1": 2, "01": 3 }),
  "an array with a __proto__ member": () =>
    Object.defineProperty([1], "__proto__", { value: 5, enumerable: true, writable: true, configurable: true }),
  "the keys $ and __proto__": () => JSON.parse('{"$":"h","id":1,"__proto__":{"a":1},"b":{"$":1}}'),
  "keys that are indices": () => ({ 1: "a", 0: "b", "-1": "c", "4294967295": "d" }),
  "Maps and Sets with objects as keys": () =>
    new Map<unknown, unknown>([
      [{ a: 1 }, new Set([{ b: 2 }, [1]])],
      [Number.NaN, -0],
      [undefined, null],
    ]),
  dates: () => [new Date(0), new Date(8.64e15), new Date(Number.NaN)],
  "a regular expression in the middle of its work": () => {
    const found = /a(?<x>b)\/["\\]/giu
    found.lastIndex = 3
    return [found, /(?:)/]
  },
  "boxed primitives": () => [Object(1), Object("text"), Object(true), Object(10n), Object(-0)],
  "views of several kinds": () => [
    new Float64Array([1.5, -0, Number.NaN]),
    new BigUint64Array([2n ** 64n - 1n]),
    new Uint8ClampedArray([300]),
    new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2),
    new ArrayBuffer(3),
    new Int16Array(0),
    Buffer.from("text"),
    Buffer.alloc(0),
  ],
  errors: () => {
    const error = Object.assign(new RangeError("outer", { cause: new TypeError("inner") }), { code: 5, list: [1] })
    return [
      error,
      new AggregateError([new Error("one")], "many"),
      Object.defineProperty(new Error("x"), "name", { value: "Own" }),
    ]
  },
  "a table of records": () => Array.from({ length: 100 }, (_, at) => ({ id: at, name: `n${at}`, on: at % 2 === 0 })),
  "a table with numbers that JSON lacks": () => Array.from({ length: 64 }, (_, at) => ({ id: at ? -0 : Number.NaN })),
  "records that are almost a table": () => [...Array.from({ length: 80 }, (_, at) => ({ id: at })), { id: "x" }],
  "records whose keys have another order": () =>
    Array.from({ length: 70 }, (_, at) => (at % 2 ? { a: 1, b: 2 } : { b: 1, a: 2 })),
  "a table in a table": () => ({
    rows: Array.from({ length: 64 }, (_, at) => ({ at })),
    more: [{ rows: Array.from({ length: 65 }, (_, at) => ({ a: at, b: "" })) }],
  }),
}

for (const [name, make] of Object.entries(values)) {
  test(`${name} arrive as they were`, () => {
    const value = make()
    const copy = crossed(value)
    assert.deepStrictEqual(copy, value)
    if (Array.isArray(value)) assert.deepEqual(Object.keys(Object(copy)), Object.keys(value))
  })
}

test("what is one object in a value is one object in the copy", () => {
  const shared = { n: 1 }
  const list = [shared, { shared }, new Map([[shared, shared]]), new Set([shared])]
  const [first, second, third, fourth] = crossed(list) as [object, { shared: object }, Map<object, object>, Set<object>]
  assert.equal(second.shared, first)
  assert.equal(third.get(first), first)
  assert.ok(fourth.has(first))
  const date = new Date(1)
  const pattern = /x/g
  const copies = crossed({ date, again: date, pattern, more: [pattern] })
  assert.equal(copies.again, copies.date)
  assert.equal(copies.more[0], copies.pattern)
})

test("cycles arrive as cycles", () => {
  const object: Record<string, unknown> = {}
  object.me = object
  const list: unknown[] = [object]
  list.push(list)
  const map = new Map<unknown, unknown>()
  map.set(map, map)
  const set = new Set<unknown>()
  set.add(set)
  const error = new Error("x")
  error.cause = Object.assign(new Error("y"), { cause: error })
  const [a, b, c, d] = crossed([list, map, set, error]) as [unknown[], Map<unknown, unknown>, Set<unknown>, Error]
  assert.equal(a[1], a)
  assert.equal(Object(a[0]).me, a[0])
  assert.equal(b.get(b), b)
  assert.ok(c.has(c))
  assert.equal((d.cause as Error).cause, d)
})

test("rows of a table that occur again are the same objects", () => {
  const rows = Array.from({ length: 64 }, () => ({ a: 1, b: "x" }))
  const value = { rows, chosen: rows[5], again: rows, last: [rows[63]] }
  const copy = crossed(value)
  assert.deepStrictEqual(copy, value)
  assert.equal(copy.chosen, copy.rows[5])
  assert.equal(copy.again, copy.rows)
  assert.equal(copy.last[0], copy.rows[63])
  const twice = Array.from({ length: 70 }, () => rows[0])
  assert.equal(new Set(crossed(twice)).size, 1)
  assert.equal(new Set(crossed(rows)).size, 64)
  const before = crossed({ chosen: rows[5], rows })
  assert.equal(before.chosen, before.rows[5])
})

test("views of one buffer see each other's changes in the copy too", () => {
  const buffer = new ArrayBuffer(16)
  const [bytes, numbers, view] = crossed([
    new Uint8Array(buffer, 4, 4),
    new Uint32Array(buffer),
    new DataView(buffer),
  ]) as [Uint8Array, Uint32Array, DataView]
  bytes[0] = 7
  assert.equal(numbers[1], 7)
  assert.equal(view.getUint8(4), 7)
  assert.deepEqual([bytes.byteOffset, bytes.length, numbers.length], [4, 4, 4])
})

test("a Buffer crosses without the memory that it shares with other Buffers", () => {
  const secret = Buffer.from("the secret of another")
  const mine = Buffer.from("mine")
  const { encode } = table()
  const { buffers } = javaScriptCodec.encode([mine, mine.subarray(1, 3)], "the value", encode)
  const sent = Buffer.concat(encodeFrame({ message: {}, buffers, special: true }, 1e9))
  assert.equal(sent.includes(secret), false)
  assert.equal(
    buffers.reduce((sum, each) => sum + each.byteLength, 0),
    6,
  )
})

test("a regular expression continues where the engine would, whatever a program assigned to its lastIndex", () => {
  const starts: [assigned: unknown, start: number][] = [
    [-1, 0],
    [2.7, 2],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
    [undefined, 0],
    [{ valueOf: () => assert.fail("valueOf was called") }, 0],
  ]
  for (const [assigned, start] of starts)
    assert.equal(crossed(Object.assign(/a/g, { lastIndex: assigned })).lastIndex, start)
})

test("bytes whose buffer was transferred, and values that are too deep, are refused in a few words", () => {
  const bytes = new Uint8Array(8)
  const views = [bytes, new DataView(bytes.buffer), Buffer.from(bytes.buffer), bytes.buffer]
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  for (const view of views) {
    assert.throws(() => crossed({ view }), {
      name: "CannotCross",
      message: /view has no bytes any more: its buffer was transferred\. Copy them before that\.$/,
    })
  }
  const deep = Array.from({ length: 2000 }).reduce((inner) => ({ inner }), 1)
  assert.throws(
    () => crossed({ deep }),
    (error) => error instanceof CannotCross && /…/.test(error.message) && error.message.length < 200,
  )
})

test("an error whose field cannot cross arrives without the field, and the rest of the value is right", () => {
  const shared = { n: 1 }
  const error = Object.assign(new Error("x"), { bad: [{ a: 1 }, new Uint8Array(2), Symbol("no")], good: shared })
  const copy = crossed({ before: shared, error, after: shared, last: [new Uint8Array([9])] })
  assert.deepEqual(Object.keys(copy.error), ["good"])
  assert.equal(copy.error.good, copy.before)
  assert.equal(copy.after, copy.before)
  assert.deepEqual([...(copy.last[0] ?? [])], [9])
})

test("what a copy would change crosses as a reference", () => {
  class Own {}
  const live = [
    new Own(),
    () => 1,
    Own,
    new Proxy({}, {}),
    {
      get x() {
        return 1
      },
    },
    { [Symbol("s")]: 1 },
    Object.defineProperty({}, "hidden", { value: 1 }),
    new (class extends Map {})(),
    Object.assign(new Map(), { x: 1 }),
    Object.assign(new Date(0), { x: 1 }),
    new Uint8Array(new SharedArrayBuffer(1)),
    new WeakMap(),
  ]
  for (const [at, each] of live.entries()) assert.equal(crossed([each])[0], each, `number ${at}`)
})

function randomValue(random: ReturnType<typeof randomFrom>, depth: number, seen: object[]): unknown {
  const leaves: (() => unknown)[] = [
    () =>
      random.pick([undefined, null, true, false, -0, Number.NaN, Infinity, 0.1, 1e300, "", "$", "__proto__", 5n, -5n]),
    () => random.below(1e6),
    () => `text ${random.below(99)}`,
    () => new Date(random.pick([0, Number.NaN, 5e12])),
    () => new Uint16Array([random.below(9), 1]),
    () => Buffer.from("b".repeat(random.below(5))),
    () => Object(random.pick([1, "x", true, 7n])),
    () => (seen.length > 0 ? random.pick(seen) : null),
  ]
  if (depth === 0 || random.below(3) === 0) return random.pick(leaves)()
  const part = () => randomValue(random, depth - 1, seen)
  const keep = <T extends object>(made: T): T => {
    seen.push(made)
    return made
  }
  switch (random.below(7)) {
    case 0: {
      const made = keep<unknown[]>([])
      for (let count = random.below(5); count > 0; count--) made.push(part())
      if (random.below(3) === 0) made[made.length + random.below(4)] = part()
      if (random.below(4) === 0) Object.assign(made, { named: part() })
      return made
    }
    case 1: {
      const made = keep(new Map<unknown, unknown>())
      for (let count = random.below(4); count > 0; count--) made.set(part(), part())
      return made
    }
    case 2: {
      const made = keep(new Set<unknown>())
      for (let count = random.below(4); count > 0; count--) made.add(part())
      return made
    }
    case 3:
      return keep(Array.from({ length: 64 + random.below(3) }, (_, at) => ({ at, text: `${at % 3}` })))
    case 4: {
      const error = keep(new Error(`e${random.below(9)}`))
      if (random.below(2) === 1) error.cause = part()
      return error
    }
    default: {
      const made = keep<Record<string, unknown>>({})
      for (let count = random.below(5); count > 0; count--) {
        const value = part()
        const key = random.pick(["a", "b", "$", "__proto__", "1", "a b", "constructor", "length"])
        Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true })
      }
      return made
    }
  }
}

/** Returns a text of a value that shows which objects are identical. */
function structureOf(value: unknown, numbers = new Map<object, number>()): string {
  if (typeof value !== "object" || value === null)
    return Object.is(value, -0) ? "-0" : `${typeof value} ${String(value)}`
  const number = numbers.get(value)
  if (number !== undefined) return `#${number}`
  numbers.set(value, numbers.size)
  const inner = (part: unknown) => structureOf(part, numbers)
  const type = Object.prototype.toString.call(value)
  if (value instanceof Map) return `${type}(${[...value].map(([key, held]) => `${inner(key)}=>${inner(held)}`).join()})`
  if (value instanceof Set) return `${type}(${[...value].map(inner).join()})`
  if (value instanceof Date) return `${type}(${value.getTime()})`
  if (ArrayBuffer.isView(value))
    return `${type}(${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")})`
  if (value instanceof Error) return `${value.name}(${value.message},${inner(value.cause)})`
  if (Object(value) === value && typeof value.valueOf() !== "object") return `${type}(${String(value)})`
  const parts = Object.entries(value).map(([key, held]) => `${key}:${inner(held)}`)
  return `${type}${Array.isArray(value) ? value.length : ""}(${parts.join()})`
}

test("any value arrives equal, with the same objects in the same places", () => {
  for (let seed = 1; seed <= 1_500; seed++) {
    const value = [randomValue(randomFrom(seed), 5, [])]
    assert.equal(structureOf(crossed(value)), structureOf(value), `seed ${seed}`)
  }
})

test("a changed message decodes, or is refused by name, and runs nothing", () => {
  let ran = 0
  const trap = () => {
    ran++
  }
  const tags = [
    "u",
    "f",
    "n",
    "r",
    "h",
    "hm",
    "p",
    "d",
    "x",
    "w",
    "ab",
    "v",
    "m",
    "s",
    "o",
    "l",
    "t",
    "e",
    "zz",
    "__proto__",
  ]
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed)
    const { encode, decode, live } = table()
    live.push(trap, { then: trap })
    const { json, buffers, special } = javaScriptCodec.encode([randomValue(random, 4, [])], "the value", encode)
    const changed = mutated(json, random, tags)
    const few = random.below(4) === 0 ? buffers.slice(1) : buffers
    try {
      const value = javaScriptCodec.decode(changed, { buffers: few, special: special || random.below(2) === 1 }, decode)
      JSON.stringify(Object.keys(Object(value)))
    } catch (error) {
      const isExpected = ForgedMessage.is(error) || error instanceof CannotCross || error instanceof TypeError
      assert.ok(isExpected || error instanceof RangeError, `seed ${seed}: ${String(error)}`)
    }
    assert.equal(ran, 0, `seed ${seed}`)
  }
  assert.equal(Reflect.get({}, "a b"), undefined)
})

/** Returns the JSON with one part changed. */
function mutated(json: Json, random: ReturnType<typeof randomFrom>, tags: readonly string[]): Json {
  const foreign = (): Json =>
    random.pick<Json>([
      null,
      -1,
      0.5,
      1e10,
      "x",
      [],
      {},
      { $: random.pick(tags) },
      { $: random.pick(tags), v: 1, n: 2, i: 0, e: [[1, 2]] },
      { $: "h", id: 0 },
      { $: "h", id: 99 },
      { then: { $: "h", id: 0 } },
      { toJSON: { $: "h", id: 0 } },
      { $: "l", n: 4e9, e: [] },
      { $: "t", n: 1e9, c: [{ name: "a", kind: "number", i: 0 }] },
      { $: "n", v: "zz" },
      { $: "x", s: "(", f: "", l: 0 },
      { $: "v", t: "Uint8Array", b: { $: "ab", i: 0 }, o: -1, l: 1e9 },
      { $: "e", name: 1, message: {}, e: 5 },
      { $: "e", name: "E", message: "m", e: [["toString", { $: "h", id: 0 }]] },
    ])
  const change = (part: Json, left: number): Json => {
    if (left <= 0 || typeof part !== "object" || part === null) return random.below(3) === 0 ? foreign() : part
    if (Array.isArray(part)) {
      if (part.length === 0 || random.below(6) === 0) return [...part, foreign()]
      const at = random.below(part.length)
      return part.map((each, index) => (index === at ? change(each, left - 1) : each))
    }
    const keys = Object.keys(part)
    const key = keys.length > 0 ? random.pick(keys) : "$"
    const way = random.below(6)
    if (way === 0) return { ...part, $: random.pick(tags) }
    if (way === 1) return Object.fromEntries(Object.entries(part).filter(([name]) => name !== key))
    return { ...part, [key]: way === 2 ? foreign() : change(part[key] ?? null, left - 1) }
  }
  return change(json, 1 + random.below(6))
}

test("A row with an accessor, late in a table, crosses by reference as it does alone, and the accessor is not called", () => {
  let calls = 0
  const rows: object[] = Array.from({ length: 100 }, (_, at) => ({ id: at, name: "x" }))
  const get = () => `call ${++calls}`
  rows[90] = Object.defineProperty({ id: 90 }, "name", { get, enumerable: true, configurable: true })
  const arrived = crossed(rows)
  assert.equal(calls, 0)
  assert.equal(arrived[90], rows[90])
  assert.deepEqual(arrived[91], rows[91])
})
