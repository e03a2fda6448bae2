import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { inspect } from "node:util"
import { readValue } from "../../../src/runtime/show/read-value.ts"
import { showJson, showValue } from "../../../src/runtime/show/show-value.ts"
import type { ShownNode } from "../../../src/runtime/show/shown-tree.ts"
import { shownCases } from "../../fixtures/shown-values.ts"
import fc from "../../property.ts"

function countNodes(node: ShownNode): number {
  return node.kind === "group" ? node.members.reduce((count, { node: inner }) => count + countNodes(inner), 1) : 1
}

describe("a value within a budget", () => {
  for (const { title, value, budget, javascript, json } of shownCases) {
    test(`${title}: in JavaScript`, () => assert.equal(showValue(value, budget).text, javascript))
    test(`${title}: as JSON`, () => {
      const shown = showJson(JSON.stringify(value), budget)
      if (typeof value === "object" && value !== null) assert.equal(shown?.text, json)
      else assert.equal(shown, undefined)
    })
  }

  const named: [unknown, number, string][] = [
    ["it's", 100, `"it's"`],
    [42n, 100, "42n"],
    [-0, 100, "-0"],
    [undefined, 100, "undefined"],
    [new Map([["a", { b: 1 }]]), 100, "Map(1) { 'a' => { b: 1 } }"],
    [
      new Map(Array.from({ length: 500 }, (_, at) => [at, at])),
      60,
      "Map(500) { 0 => 0, 1 => 1, 2 => 2, … 497 more entries }",
    ],
    [new Set(Array.from({ length: 500 }, (_, at) => at)), 50, "Set(500) { 0, 1, 2, 3, 4, … 500 items }"],
    [new Float64Array(2000), 60, "Float64Array(2000) [ 0, 0, 0, 0, 0, … 2,000 items ]"],
    [function add() {}, 100, "[Function: add]"],
    [[undefined, null, Number.NaN], 100, "[ undefined, null, NaN ]"],
    // biome-ignore lint/suspicious/noSparseArray: the holes are the case.
    [[, 1, , , 2], 100, "[ <1 empty item>, 1, <2 empty items>, 2 ]"],
    [/a(b)/.exec("ab"), 100, "[ 'ab', 'b', index: 0, input: 'ab', groups: undefined ]"],
    [{ e: new RangeError("too far") }, 100, "{ e: [RangeError: too far] }"],
    [{ e: Object.assign(new Error("no"), { code: "E" }) }, 100, "{ e: [Error: no] { code: 'E' } }"],
    [Object.create(null), 100, "[Object: null prototype] {}"],
    [{ [Symbol("s")]: 1, "a-b": 2 }, 100, "{ 'a-b': 2, [Symbol(s)]: 1 }"],
    [{ at: new Date(0), re: /a/g }, 100, "{ at: 1970-01-01T00:00:00.000Z, re: /a/g }"],
  ]
  for (const [value, budget, text] of named) test(`is ${text}`, () => assert.equal(showValue(value, budget).text, text))

  test("shows a class instance by its name, and only that if there is no more room", () => {
    class Light {
      level = 3
      name = "desk"
    }
    assert.equal(showValue(new Light()).text, "Light { level: 3, name: 'desk' }")
    assert.equal(showValue(new Light(), 18).text, "Light {…2 keys}")
    assert.equal(showValue(new Light(), 12).text, "{…2 keys}")
    assert.equal(showValue(new Light(), 3).text, "…")
  })

  test("says whether something is left out", () => {
    assert.equal(showValue({ a: [1, 2] }).cut, false)
    assert.equal(showValue(Array(5000).fill(1)).cut, true)
    assert.equal(showValue("x".repeat(6000)).cut, true)
    assert.equal(showValue({ [`k${"e".repeat(80)}y`]: "x".repeat(90) }, 60).cut, true)
  })

  test("keeps a number of a JSON text as it is written", () => {
    const shown = showJson('{"id":12345678901234567890,"rate":1.50}', 100)
    assert.equal(shown?.text, '{"id": 12345678901234567890, "rate": 1.50}')
  })

  test("shows text that is no JSON object or list not at all", () => {
    for (const text of ["", "plain", '"string"', "12", "{broken", "[1,"]) assert.equal(showJson(text, 100), undefined)
  })
})

describe("the printer", () => {
  test("runs no getters, no proxy traps and no methods of a subclass", () => {
    const refuse = (): never => assert.fail("code of the value ran")
    class Watched {
      own = 1
      get [Symbol.toStringTag](): string {
        return refuse()
      }
    }
    class WatchedMap extends Map {
      override entries = refuse
      override get size(): number {
        return refuse()
      }
    }
    const getter = {
      get secret() {
        return refuse()
      },
    }
    const trap = new Proxy(
      { a: 1 },
      { get: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse, getPrototypeOf: refuse, has: refuse },
    )
    assert.equal(showValue({ w: new Watched() }).text, "{ w: Watched { own: 1 } }")
    assert.match(showValue(Object.defineProperty(new WatchedMap(), "entries", { enumerable: false })).text, /Map\(0\)/)
    assert.equal(showValue(getter).text, "{ secret: [Getter] }")
    assert.equal(showValue({ trap }).text, "{ trap: { a: 1 } }")
    const revocable = Proxy.revocable({}, {})
    const inherits = Object.create(trap)
    revocable.revoke()
    assert.match(showValue(inherits).text, /\{\}/)
    assert.equal(showValue({ gone: revocable.proxy }).text, "{ gone: <Revoked Proxy> }")
  })

  test("uses `inspect.custom`, and shows the value itself if that throws", () => {
    const custom = (text: () => string) => ({ shown: 1, [inspect.custom]: text })
    assert.equal(showValue({ of: custom(() => "<mine>") }).text, "{ of: <mine> }")
    const hostile = custom(() => {
      throw new Error("no")
    })
    assert.match(showValue({ hostile }).text, /shown: 1/)
  })

  test("shows cycles and values that are nested deeply", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    assert.equal(showValue(cycle).text, "{ self: [Circular] }")
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    assert.match(showValue(deep).text, /\[…1 item\]/)
  })

  test("reads no more of a huge value than it can show", () => {
    const size = 10_000_000
    const list = new Array(size).fill(7)
    const value = {
      list,
      text: "x".repeat(size),
      bytes: new Uint8Array(size),
      set: new Set(list.slice(0, 100_000).keys()),
    }
    const style = { quote: String, key: String, padding: " " } as const
    assert.ok(countNodes(readValue(value, style, 250)) <= 251)
    assert.match(showValue(value, 500).text, /10,000,000 items/)
  })

  const anyValue = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
    maxDepth: 4,
  })
  const slack = 10

  test("stays within the budget, apart from a fixed slack", () => {
    fc.assert(
      fc.property(anyValue, fc.integer({ min: 0, max: 2000 }), (value, budget) => {
        const { text } = showValue(value, budget)
        assert.ok(text.length <= budget + slack, `${text.length} of ${budget}: ${text}`)
      }),
      { numRuns: 500 },
    )
  })

  test("shows every top-level key if the budget is at least 60 characters a key", () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9]{0,29}$/)
    fc.assert(
      fc.property(
        fc.dictionary(key, anyValue, { minKeys: 1, maxKeys: 60 }),
        fc.integer({ min: 0, max: 500 }),
        (value, more) => {
          const { text } = showValue(value, 60 * Object.keys(value).length + more)
          for (const name of Object.keys(value)) assert.ok(text.includes(`${name}: `), `${name} is not in ${text}`)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("leaves nothing out if the value is small", () => {
    const small = fc.jsonValue({ maxDepth: 3 }).filter((value) => JSON.stringify(value).length < 500)
    fc.assert(
      fc.property(small, (value) => assert.equal(showValue(value, 5000).cut, false)),
      { numRuns: 300 },
    )
    fc.assert(
      fc.property(small, (value) => {
        const shown = showJson(JSON.stringify(value), 5000)
        if (shown) assert.deepEqual(JSON.parse(shown.text), JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: 300 },
    )
  })
})
