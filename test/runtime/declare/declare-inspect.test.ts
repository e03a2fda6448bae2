// biome-ignore-all lint/correctness/noUnusedFunctionParameters: parameters are what these tests look at
import assert from "node:assert/strict"
import { test } from "node:test"
import { runInNewContext } from "node:vm"
import { classType, variable } from "../../../src/runtime/bindings.ts"
import { describeType } from "../../../src/runtime/declare/inspect-value.ts"
import { declared } from "./declare-text.ts"

/** Returns the declared type of a variable without the mark. */
function shown(value: unknown): string {
  return declared({ x: variable(value) })
    .replace(/^declare (?:let|const) x: /, "")
    .replace(/ \/\/ inferred.*/, "")
}

test("primitives are shown by their type and never by their value", () => {
  assert.equal(shown("s3cret"), "string")
  assert.equal(shown(42), "number")
  assert.equal(shown(true), "boolean")
  assert.equal(shown(5n), "bigint")
  assert.equal(shown(Symbol("s3cret")), "symbol")
})

test("plain objects are shown by their shape, nested ones too", () => {
  assert.equal(
    shown({ name: "a", at: { x: 1, y: 2 }, gone: null }),
    "{ name: string; at: { x: number; y: number }; gone: null }",
  )
})

test("an object without a prototype or from another realm is plain data", () => {
  assert.equal(shown(Object.assign(Object.create(null), { a: 1 })), "{ a: number }")
  assert.equal(shown(runInNewContext("({ a: 1, b: ['x'] })")), "{ a: number; b: string[] }")
})

test("rows of an array are laid over each other, and what some lack is optional", () => {
  const tasks = [
    { name: "a", done: false, tags: [] },
    { name: "b", done: true, tags: ["x"], due: new Date() },
    { name: "c", done: null, tags: [] },
  ]
  assert.equal(
    shown(tasks),
    `{
  name: string
  done: boolean | null // 1 null
  tags: string[]
  due?: Date // 2 missing
}[]`,
  )
})

test("an array of several types is shown as alternatives, a mixture as anything", () => {
  assert.equal(shown([1, "a", 2]), "(number | string)[]")
  assert.equal(shown([1, "a", true, 1n, new Date(), /x/]), "any[]")
  assert.equal(shown([]), "any[]")
  assert.equal(shown([[1, 2], [], [3]]), "number[][]")
})

test("only the first elements are looked at, however long the array", () => {
  const rows: unknown[] = Array.from({ length: 100_000 }, (_, index) => ({ index }))
  rows.push({ other: 1 })
  assert.equal(shown(rows), "{ index: number }[]")
})

test("built-in containers show what they contain", () => {
  assert.equal(shown(new Map([["a", { n: 1 }]])), "Map<string, { n: number }>")
  assert.equal(shown(new Set([1, "a"])), "Set<number | string>")
  assert.equal(shown(new Map()), "Map<any, any>")
})

test("other built-in objects are shown by name", () => {
  assert.equal(shown(new Date()), "Date")
  assert.equal(shown(/s3cret/), "RegExp")
  assert.equal(shown(new URL("http://s3cret")), "URL")
  assert.equal(shown(new Uint8Array(4)), "Uint8Array")
  assert.equal(shown(new TypeError("s3cret")), "TypeError")
  assert.equal(shown({ later: Promise.resolve(1) }), "{ later: Promise<any> }")
  assert.equal(shown(new WeakMap()), "WeakMap<any, any>")
  assert.equal(shown((function* () {})()), "Generator<any>")
  assert.equal(shown((async function* () {})()), "AsyncGenerator<any>")
  assert.equal(shown(Math), "typeof Math")
})

test("an object with many keys, or keys that are no names, is a dictionary whose keys are not shown", () => {
  const byMail = { "ann@example.org": { age: 3 }, "bob@example.org": { age: 4, vip: true } }
  assert.equal(shown(byMail), "Record<string, { age: number; vip?: boolean }>")
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`user${index}`, index]))
  assert.equal(shown(many), "Record<string, number>")
  assert.equal(shown({ 2024: 1, 2025: 2 }), "Record<string, number>")
})

test("columns that rows share are shown whatever their names", () => {
  const rows = [
    { City: "a", "PM2.5": 1 },
    { City: "b", "PM2.5": 2 },
  ]
  assert.equal(shown(rows), '{ City: string; "PM2.5": number }[]')
  const wide = Array.from({ length: 2 }, () =>
    Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, 1])),
  )
  assert.match(shown(wide), /c0: number\n[\s\S]*c29: number/)
})

test("more columns than can be listed are said to be there", () => {
  const wide = Array.from({ length: 2 }, () =>
    Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`c${index}`, 1])),
  )
  assert.match(shown(wide), /c63: number\n {2}\[key: string\]: any\n/)
})

test("an object of functions shows their parameters", () => {
  const api = {
    get(url: string) {},
    post: async (url: string, body = {}) => {},
    new: (a: string) => {},
  }
  assert.match(shown(api), /get\(url\?: unknown\): any/)
  assert.match(shown(api), /post\(url\?: unknown, body\?: unknown\): Promise<any>/)
  assert.match(shown(api), /"new"\(a\?: unknown\): any/)
})

test("a cycle ends and depth is bounded", () => {
  const node: Record<string, unknown> = { name: "a" }
  node.self = node
  node.list = [node]
  assert.equal(shown(node), "{ name: string; self: any; list: any[] }")
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level++) deep = { deep }
  assert.ok(shown(deep).length < 200)
})

test("a large graph of shared objects stays small", () => {
  let level: unknown = 1
  for (let depth = 0; depth < 30; depth++) level = { a: level, b: level, c: level, d: level }
  assert.ok(shown(level).length < 20_000)
})

test("rows with much in them are seen whole, if only a few of them", () => {
  const cells = () =>
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`c${index}`, { value: { n: index } }]))
  assert.doesNotMatch(shown(Array.from({ length: 20 }, cells)), /any/)
})

test("a module shows its functions", async () => {
  const module = await import("./declare-text.ts")
  assert.equal(shown(module), "{ bound(bindings?: unknown): any; declared(bindings?: unknown): any }")
})

test("getters are never run", () => {
  const trap = () => assert.fail("a getter was run")
  class Lamp {
    get level() {
      return trap()
    }
    static get count() {
      return trap()
    }
  }
  const own = Object.defineProperty({ a: 1 }, "b", { enumerable: true, get: trap })
  const array = Object.defineProperty([1, 2], 0, { get: trap })
  assert.equal(shown(own), "{ a: number; readonly b: any }")
  assert.equal(shown(array), "number[]")
  assert.match(
    declared({ lamp: new Lamp(), Lamp: classType(Lamp) }),
    /get level\(\): any\n {2}static get count\(\): any/,
  )
})

test("proxies are not touched", () => {
  const trap = () => assert.fail("a trap was run")
  const handler = { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap }
  const proxy = new Proxy({ a: 1 }, handler)
  assert.equal(shown(proxy), "any")
  assert.equal(shown([proxy]), "any[]")
  assert.equal(shown({ call: new Proxy(() => {}, handler) }), "{ call: any }")
  assert.equal(shown(Object.create(proxy)), "{}")
  assert.equal(describeType(proxy), "object")
})

test("objects that throw when looked at do not keep the rest from being declared", async () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  class Hostile {
    static override = 1
    get [Symbol.toStringTag]() {
      throw new Error("hostile")
    }
    then: undefined
  }
  Object.defineProperty(Hostile, "name", { get: () => assert.fail("name was read") })
  const module = await import("./declare-text.ts")
  const text = declared({ revoked: variable(revoked.proxy), hostile: new Hostile(), module: { ...module }, fine: 1 })
  assert.match(text, /declare let fine: number/)
})

test("no value of any variable is ever shown", () => {
  const secret = "s3cret"
  const box = { text: secret, list: [secret], map: new Map([[secret, secret]]), set: new Set([secret]), n: 90210 }
  const text = declared({
    box,
    rows: [{ a: secret }],
    secret,
    f: (a = "s3cret") => a,
    n: 90210,
  })
  assert.doesNotMatch(text, /s3cret|90210/)
})

test("a description in a few words stays short", () => {
  const wide = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`column${index}`, { n: index }]))
  assert.equal(describeType(wide), "object")
  assert.equal(describeType([wide]), "object[]")
})

test("a list of lists of lists is shown to a limited depth", () => {
  const nested = (levels: number) => Array.from({ length: levels }).reduce((inner) => [inner], 1)
  assert.equal(shown(nested(6)), "number[][][][][][]")
  assert.equal(shown(nested(1000)), shown(nested(100)))
  assert.ok(shown(nested(1000)).length < 60)
})
