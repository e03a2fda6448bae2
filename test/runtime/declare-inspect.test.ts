import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { test } from "node:test"
import { runInNewContext } from "node:vm"
import { type, variable } from "../../src/runtime/bindings.ts"
import { describeType } from "../../src/runtime/declare.ts"
import { declared } from "./declare-text.ts"

/** The type of a variable as it is declared, without the mark. */
function shown(value: unknown): string {
  return declared({ x: variable(value) })
    .replace(/^declare (?:let|const) x: /, "")
    .replace(" // inferred", "")
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
  assert.equal(shown(tasks), "{ name: string; done: boolean | null; tags: string[]; due?: Date }[]")
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
  assert.match(shown(api), /get\(url: unknown\): any/)
  assert.match(shown(api), /post\(url: unknown, body\?: unknown\): Promise<any>/)
  assert.match(shown(api), /"new"\(a: unknown\): any/)
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
  assert.match(declared({ lamp: new Lamp(), Lamp: type(Lamp) }), /get level\(\): any\n {2}static get count\(\): any/)
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

class Base {
  /** Who made it. */
  maker = "x"
  repair(part = "bulb") {}
}

class Light extends Base {
  static made = 0
  /** In percent. */
  brightness = 0
  #secret = 1
  _internal = 2
  label: string | undefined
  constructor(name: string, { watts = 5, color }: { watts?: number; color?: string } = {}) {
    super()
    this.label = name
    this.#secret = watts
  }
  get isOn() {
    return this.brightness > 0 && this.#secret > 0
  }
  get level() {
    return this.brightness
  }
  set level(value) {
    this.brightness = value
  }
  set mood(value: string) {}
  /** Dims to a level. */
  dim(level: number, ...steps: number[]) {}
  async fade(to: number, seconds = 1) {}
  *frames() {}
  async *stream() {}
  onChange = (listener: () => void) => {}
  _hidden() {}
  #private() {}
  static of(...names: string[]) {
    return names.map((name) => new Light(name))
  }
}

test("a class shows its constructor, fields, accessors, methods and statics, with the docs inside it", () => {
  assert.equal(
    declared({ Light }),
    `declare class Light { // inferred
  constructor(name: unknown, options?: { watts?: number; color: unknown })
  /** In percent. */
  brightness: number
  label: any
  get isOn(): any
  level: any
  set mood(value: unknown)
  /** Who made it. */
  maker: string
  /** Dims to a level. */
  dim(level: unknown, ...steps: unknown[]): any
  fade(to: unknown, seconds?: number): Promise<any>
  frames(): Generator<any>
  stream(): AsyncGenerator<any>
  onChange(listener: unknown): any
  repair(part?: string): any
  static made: number
  static of(...names: unknown[]): any
}`,
  )
})

test("private and underscored names stay hidden, in instances too", () => {
  const text = declared({ light: new Light("s3cret") })
  assert.doesNotMatch(text, /secret|_internal|_hidden|#/)
  assert.match(text, /label: string/)
})

test("a class that extends a declared one says so and repeats nothing", () => {
  assert.match(
    declared({ Base, Light, light: new Light("a") }),
    /declare class Light extends Base \{[\s\S]*brightness: number\n(?![\s\S]*(maker|repair))/,
  )
})

test("a class that extends a built-in one names it and does not list what it brings", () => {
  class Bag extends Map {
    total() {}
  }
  class Failure extends Error {
    code = 1
  }
  class Bus extends EventEmitter {
    send() {}
  }
  class List extends Array {}
  const text = declared({ Bag, Failure, Bus, List, bus: new Bus() })
  assert.match(text, /declare class Bag extends Map<any, any> \{ \/\/ inferred\n {2}total\(\): any\n\}/)
  assert.match(text, /declare class Failure extends Error \{ \/\/ inferred\n {2}code: number\n\}/)
  assert.match(text, /declare class Bus \/\* extends EventEmitter \*\/ \{ \/\/ inferred\n {2}send\(\): any\n\}/)
  assert.match(text, /declare class List extends Array<any> \{\}/)
})

test("members put on a class at run time and constructor functions are seen too", () => {
  class Plugin {}
  Object.assign(Plugin.prototype, { run: (job: string) => job })
  function Old(this: { name: string }, name: string) {
    this.name = name
  }
  Old.prototype.greet = (to: string) => to
  const old: unknown = Reflect.construct(Old, ["x"])
  const text = declared({ Plugin, old })
  assert.match(text, /declare class Plugin \{ \/\/ inferred\n {2}run\(job: unknown\): any\n\}/)
  assert.match(
    text,
    /declare class Old \{ \/\/ inferred\n {2}constructor\(name: unknown\)\n {2}name: string\n {2}greet\(to: unknown\): any\n\}/,
  )
})

test("iterable classes are shown as iterable", () => {
  class Pages {
    *[Symbol.iterator]() {}
    async *[Symbol.asyncIterator]() {}
  }
  assert.match(
    declared({ Pages }),
    /\[Symbol\.iterator\]\(\): Iterator<any>\n {2}\[Symbol\.asyncIterator\]\(\): AsyncIterator<any>/,
  )
})

test("fields assigned in a constructor are seen without an instance", () => {
  class Task {
    declare name: string
    declare done: boolean
    constructor(name: string) {
      this.name = name
      this.done = false
    }
  }
  assert.match(declared({ Task }), /name: any\n {2}done: boolean/)
})

test("functions show parameter names, defaults as types, rest and destructured ones", () => {
  function plain(a: number, b = "x", ...rest: string[]) {}
  const arrow = (a: number, { b, c = 1 }: { b?: number; c?: number }, [d]: number[]) => {}
  const early = (a = 1, b: string) => {}
  const single = Function("return x => x")()
  assert.equal(
    declared({ plain, arrow, early, single }),
    `declare function plain(a: unknown, b?: string, ...rest: unknown[]): Promise<any> // inferred
declare function arrow(a: unknown, options: { b: unknown; c?: number }, arg3: unknown): Promise<any> // inferred
declare function early(a: number | undefined, b: unknown): Promise<any> // inferred
declare function single(x: unknown): Promise<any> // inferred`,
  )
})

test("methods, async functions and generators are read like other functions", () => {
  const {
    get,
    ["computed key"]: computed,
    load,
    list,
  } = {
    get(key: string) {},
    ["computed key"](a: number) {},
    async load(url: string) {},
    *list(from: number) {},
  }
  assert.equal(
    declared({ get, computed, load, list }),
    `declare function get(key: unknown): Promise<any> // inferred
declare function computed(a: unknown): Promise<any> // inferred
declare function load(url: unknown): Promise<any> // inferred
declare function list(from: unknown): Promise<Generator<any>> // inferred`,
  )
})

test("a default of any kind is neither shown nor misread", () => {
  const tricky = (a = ")", b = /\)/, c = `${")"}`, d = (x = (1, 2)) => x, e = new Map(), f = -1, g = !0) => {}
  const text = declared({ tricky })
  assert.match(
    text,
    /a\?: string, b\?: RegExp, c\?: string, d\?: \(x\?: unknown\) => any, e\?: Map<any, any>, f\?: number, g\?: boolean/,
  )
})

test("native and bound functions take anything", () => {
  const limit = Math.max
  const later = ((a: string) => a).bind(null)
  assert.equal(
    declared({ limit, later }),
    `declare function limit(...args: unknown[]): Promise<any> // inferred
declare function later(...args: unknown[]): Promise<any> // inferred`,
  )
})

test("no value of any variable is ever shown", () => {
  const secret = "s3cret"
  const box = { [`plain`]: secret, list: [secret], map: new Map([[secret, secret]]), set: new Set([secret]), n: 90210 }
  const text = declared({
    box,
    rows: [{ a: secret }],
    secret,
    lamp: new Light(secret),
    f: (a = "s3cret") => a,
    n: 90210,
  })
  assert.doesNotMatch(text, /s3cret|90210/)
})

test("a live value is described in a few words", () => {
  assert.equal(describeType([1, 2]), "number[]")
  assert.equal(describeType(new Light("a")), "Light")
  assert.equal(describeType(new Map([["a", new Light("a")]])), "Map<string, Light>")
  assert.equal(
    describeType((name: string, ...more: string[]) => name + more),
    "(name, ...more) => …",
  )
  assert.equal(describeType(Light), "class Light")
  assert.equal(describeType({ a: 1, b: "x" }), "{ a: number; b: string }")
  assert.equal(describeType(null), "null")
  assert.equal(describeType(undefined), "undefined")
})

test("a description in a few words stays short", () => {
  const wide = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`column${index}`, { n: index }]))
  assert.equal(describeType(wide), "object")
  assert.equal(describeType([wide]), "object[]")
})
