import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { digest, identityOf } from "../../../src/core/values/digest.ts"
import fc from "../../property.ts"

const text = (value: unknown) => digest(value, identityOf).text

const circular = () => {
  const self: { me?: unknown; n: number } = { n: 1 }
  self.me = self
  return self
}

describe("the digest of a value", () => {
  test("is the same for equal data and another for any change of it", () => {
    const values: (() => unknown)[] = [
      ...[() => undefined, () => null, () => 0, () => -0, () => Number.NaN, () => 1n, () => "1", () => 1, () => true],
      ...[
        () => "",
        () => [],
        () => ({}),
        () => [[]],
        () => [undefined],
        () => new Array(1),
        () => [null],
        () => [1, 2],
      ],
      ...[() => ["1", "2"], () => ["1,2"], () => ({ a: 1 }), () => ({ a: "1" }), () => ({ b: 1 }), () => [["a", 1]]],
      ...[() => new Map([["a", 1]]), () => new Set(["a", 1]), () => new Map([["a", { x: 1 }]]), () => new Date(5)],
      ...[() => new Date(Number.NaN), () => /a/g, () => /a/i, () => new Uint8Array([1, 0]), () => new Uint16Array([1])],
      ...[() => Buffer.from("ab"), () => new DataView(new ArrayBuffer(3)), () => new Error("x"), () => new Error("y")],
      ...[() => Object.assign(new Error("x"), { code: 1 }), circular, () => Symbol.iterator, () => Symbol.for("a")],
      ...[() => "\ud800", () => "\ud801", () => Object.assign([1], { x: 1 }), () => ({ [Symbol.for("k")]: 1 })],
    ]
    const seen = new Map<string, number>()
    values.forEach((make, at) => {
      assert.equal(text(make()), text(make()), `value ${at}`)
      assert.equal(seen.get(text(make())), undefined, `value ${at} is like ${seen.get(text(make()))}`)
      seen.set(text(make()), at)
    })
  })

  test("of random data changes when and only when the data changes", () => {
    fc.assert(
      fc.property(fc.anything({ withMap: true, withSet: true, withDate: true }), (value) => {
        const copy = structuredClone(value)
        assert.equal(text([value]), text([copy]))
        assert.notEqual(text([value, 1]), text([copy]))
      }),
    )
  })

  test("counts instances, functions and Proxies by identity, nested ones too", () => {
    class Account {
      balance = 1
    }
    const [a, b] = [new Account(), new Account()]
    assert.equal(text({ deep: [a] }), text({ deep: [a] }))
    for (const [one, other] of [
      [a, b],
      [() => 1, () => 1],
      [new Proxy({}, {}), new Proxy({}, {})],
      [Symbol("x"), Symbol("x")],
    ] as const) {
      assert.notEqual(text([one]), text([other]))
      assert.notEqual(text({ deep: new Map([["k", one]]) }), text({ deep: new Map([["k", other]]) }))
    }
  })

  test("tells whether something in it has no identity, and the names of the rest count", () => {
    class Account {}
    const [a, b, c] = [new Account(), new Account(), new Account()]
    const names = new Map<unknown, string>([
      [a, "a"],
      [b, "b"],
    ])
    const named = (value: unknown) => digest(value, (found) => names.get(found))
    assert.notEqual(named([a, 5]).text, named([b, 5]).text)
    assert.notEqual(named([a, 5]).text, named([a, 6]).text)
    assert.notEqual(named([c, 5]).text, named([c, 6]).text)
    assert.deepEqual([named([a, { b }]).hasUnnamed, named([a, { c }]).hasUnnamed], [false, true])
  })

  test("runs nothing of the value", () => {
    const ran: string[] = []
    const noting = (what: string) => () => {
      ran.push(what)
      throw new Error(what)
    }
    const bytes = Object.defineProperties(new Uint8Array(2), {
      buffer: { get: noting("buffer") },
      byteLength: { get: noting("byteLength") },
    })
    const map = Object.assign(new Map([[1, 2]]), { [Symbol.iterator]: noting("iterator"), entries: noting("entries") })
    const pattern = Object.defineProperty(/x/g, "flags", { get: noting("flags") })
    const date = Object.assign(new Date(1), { getTime: noting("getTime"), valueOf: noting("valueOf") })
    const value = {
      get field() {
        return noting("getter")()
      },
      toJSON: noting("toJSON"),
      then: noting("then"),
      toString: noting("toString"),
      [Symbol.toPrimitive]: noting("toPrimitive"),
      proxy: new Proxy({}, { get: noting("get"), ownKeys: noting("ownKeys"), getPrototypeOf: noting("prototype") }),
      inner: [bytes, map, pattern, date],
    }
    assert.equal(text(value), text(value))
    assert.deepEqual(ran, [])
  })

  test("is bounded: of what is larger it says so, however deep, wide or long", () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    assert.equal(digest(deep, identityOf).isWhole, true)
    const limits = { values: 1000, bytes: 10_000 }
    const large = [
      deep,
      Array.from({ length: 1001 }, () => 1),
      new Array(1e9),
      "x".repeat(20_000),
      Buffer.alloc(20_000),
    ]
    assert.equal(digest(structuredClone(new ArrayBuffer(8), { transfer: [] }), identityOf).isWhole, true)
    for (const value of [...large, new Map(Array.from({ length: 2000 }, (_, at) => [at, at]))]) {
      assert.equal(digest(value, identityOf, limits).isWhole, false)
    }
  })
})
