import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { escapeInvisible, valueText } from "../../../src/core/text/value-text.ts"

const text = (value: unknown) => valueText(value, { maxChars: 10_000 })

describe("the text of a value", () => {
  test("shows data as it is written in code", () => {
    class Account {
      id = "b"
      get secret() {
        return 1
      }
    }
    const rows: [unknown, string][] = [
      ['a"b\\c', '"a\\"b\\\\c"'],
      [-0, "-0"],
      [5n, "5n"],
      [undefined, "undefined"],
      [[1, [2, []]], "[ 1, [ 2, [] ] ]"],
      [{ a: 1, "b-c": "x" }, '{ a: 1, "b-c": "x" }'],
      [new Map([["k", { v: 1 }]]), 'Map { "k" => { v: 1 } }'],
      [new Set([1, 2]), "Set { 1, 2 }"],
      [new Date(0), "1970-01-01T00:00:00.000Z"],
      [/x+/g, "/x+/"],
      [new Uint8Array([1, 255]), "Uint8Array of 2 bytes <01ff>"],
      [new Account(), 'Account { id: "b" }'],
      [{ f: function named() {} }, "{ f: [function named] }"],
      [new Error("no"), 'Error { message: "no" }'],
      [new Proxy({}, {}), "[proxy]"],
      [Promise.resolve(), "[Promise]"],
    ]
    for (const [value, expected] of rows) assert.equal(text(value), expected)
    const circular: { me?: unknown } = {}
    circular.me = circular
    assert.equal(text(circular), "{ me: [circular] }")
  })

  test("shows names in front of what has one", () => {
    const account = { id: 1 }
    const proxy = new Proxy({}, {})
    const names = new Map<object, string>([
      [account, "accounts.b"],
      [proxy, "light"],
    ])
    const shown = valueText([account, { proxy }], { maxChars: 1000, nameOf: (value) => names.get(value) })
    assert.equal(shown, "[ accounts.b: { id: 1 }, { proxy: light } ]")
  })

  test("escapes what a person cannot see or what moves other text", () => {
    const evil = "a\u202eb\u200bc\x1b[31m\x07\r\n\t\u2028\u{e0041}\ud800\u00a0\u3164"
    const shown = text({ [evil]: evil })
    assert.doesNotMatch(shown, /[^\x20-\x7e]/)
    assert.match(shown, /\\u\{202e\}b\\u\{200b\}c\\u\{1b\}\[31m/)
    assert.equal(escapeInvisible("plain äöü 漢字 😀"), "plain äöü 漢字 😀")
  })

  test("escapes every character that shows nothing, also in keys", () => {
    // Fillers, a joiner, variation selectors, a Mongolian one, and spaces that are not the usual one.
    for (const hidden of [
      "\u034f",
      "\u115f",
      "\u3164",
      "\uffa0",
      "\ufe00",
      "\ufe0f",
      "\u180b",
      "\u{e0100}",
      "\u1680",
    ]) {
      const shown = `\\u{${hidden.codePointAt(0)?.toString(16)}}`
      assert.equal(valueText(`a${hidden}b`, { maxChars: 99 }), `"a${shown}b"`)
      assert.equal(valueText({ [`a${hidden}`]: 1 }, { maxChars: 99 }), `{ "a${shown}": 1 }`)
    }
    assert.equal(valueText("❤\ufe0f and 🛠\ufe0f", { maxChars: 99 }), '"❤\ufe0f and 🛠\ufe0f"')
  })

  test("breaks long values into lines, none of which can be taken for another", () => {
    const script = 'rm -rf /\n", "harmless'
    const shown = valueText([script, { a: "x".repeat(80), b: 1 }], { maxChars: 10_000, width: 60 })
    assert.equal(
      shown,
      `[\n  "rm -rf /\\n" +\n  "\\", \\"harmless",\n  {\n    a: "${"x".repeat(80)}",\n    b: 1,\n  },\n]`,
    )
  })

  test("is bounded and says what is left out", () => {
    const long = valueText("x".repeat(1000), { maxChars: 100 })
    assert.match(long, /^"x{100}"… 900 more characters$/)
    const wide = valueText(
      Array.from({ length: 100_000 }, (_, at) => at),
      { maxChars: 100 },
    )
    assert.ok(wide.length < 400)
    assert.match(wide, /… \d+ more \]$/)
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = [deep]
    assert.ok(valueText(deep, { maxChars: 10_000 }).length < 1000)
  })

  test("runs nothing of the value", () => {
    const ran: string[] = []
    const noting = (what: string) => () => {
      ran.push(what)
      throw new Error(what)
    }
    class Named {}
    Object.defineProperty(Named, "name", { get: noting("name") })
    const value = {
      get field() {
        return noting("getter")()
      },
      toJSON: noting("toJSON"),
      toString: noting("toString"),
      [Symbol.for("nodejs.util.inspect.custom")]: noting("inspect"),
      tagged: Object.defineProperty({}, Symbol.toStringTag, { get: noting("tag") }),
      error: Object.defineProperty(new Error("x"), "message", { get: noting("message") }),
      stack: Object.defineProperty(new Error("x"), "stack", { get: noting("stack") }),
      map: Object.assign(new Map([[1, 2]]), { [Symbol.iterator]: noting("iterator") }),
      bytes: Object.defineProperty(new Uint8Array(2), "length", { get: noting("length") }),
      date: Object.assign(new Date(0), { toISOString: noting("toISOString") }),
      proxy: new Proxy({}, { get: noting("get"), ownKeys: noting("ownKeys") }),
      instance: new Named(),
    }
    assert.match(text(value), /field: \[getter\]/)
    assert.deepEqual(ran, [])
  })
})
