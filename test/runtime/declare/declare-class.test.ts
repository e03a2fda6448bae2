// biome-ignore-all lint/correctness/noUnusedFunctionParameters: parameters are what these tests look at
import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { test } from "node:test"
import { describeType } from "../../../src/runtime/declare/inspect-value.ts"
import { declared } from "./declare-text.ts"

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
  static of(...names: string[]) {
    return names.map((name) => new Light(name))
  }
}

test("a class shows its constructor, fields, accessors, methods and statics, with the docs inside it", () => {
  assert.equal(
    declared({ Light }),
    `declare class Light { // inferred
  constructor(name?: unknown, options?: { watts?: number; color?: unknown })
  /** In percent. */
  brightness: number
  label: any
  get isOn(): any
  level: any
  set mood(value: unknown)
  /** Who made it. */
  maker: string
  /** Dims to a level. */
  dim(level?: unknown, ...steps: unknown[]): any
  fade(to?: unknown, seconds?: number): Promise<any>
  frames(): Generator<any>
  stream(): AsyncGenerator<any>
  onChange(listener?: unknown): any
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
  assert.match(text, /declare class Plugin \{ \/\/ inferred\n {2}run\(job\?: unknown\): any\n\}/)
  assert.match(
    text,
    /declare class Old \{ \/\/ inferred\n {2}constructor\(name\?: unknown\)\n {2}name: string\n {2}greet\(to\?: unknown\): any\n\}/,
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
    `declare function plain(a?: unknown, b?: string, ...rest: unknown[]): Promise<any> // inferred
declare function arrow(a: unknown, options: { b?: unknown; c?: number }, arg3?: unknown): Promise<any> // inferred
declare function early(a?: number, b?: unknown): Promise<any> // inferred
declare function single(x?: unknown): Promise<any> // inferred`,
  )
})

test("two parameters never share a name", () => {
  const join = ({ a = 1 }, { b = 2 }) => a + b
  assert.equal(
    declared({ join }),
    "declare function join(options: { a?: number }, arg2: { b?: number }): Promise<any> // inferred",
  )
})

test("classes that instances hold are declared one step deep, and what those hold is anything", () => {
  class Engine {}
  class Wheel {
    engine = new Engine()
  }
  class Car {
    wheels = [new Wheel()]
  }
  assert.equal(
    declared({ car: new Car() }),
    `declare class Wheel { // inferred
  engine: any
}
declare class Car { // inferred
  wheels: Wheel[]
}
declare const car: Car`,
  )
})

test("methods, async functions and generators are read like other functions", () => {
  const {
    get,
    "computed key": computed,
    load,
    list,
  } = {
    get(key: string) {},
    "computed key"(a: number) {},
    async load(url: string) {},
    *list(from: number) {},
  }
  assert.equal(
    declared({ get, computed, load, list }),
    `declare function get(key?: unknown): Promise<any> // inferred
declare function computed(a?: unknown): Promise<any> // inferred
declare function load(url?: unknown): Promise<any> // inferred
declare function list(from?: unknown): Promise<Generator<any>> // inferred`,
  )
})

test("a default of any kind is neither shown nor misread", () => {
  const tricky = (a = ")", b = /\)/, c = `${")"}`, d = (x = 1) => x, e = new Map(), f = -1, g = !0) => {}
  const text = declared({ tricky })
  assert.match(
    text,
    /a\?: string, b\?: RegExp, c\?: string, d\?: \(x\?: number\) => any, e\?: Map<any, any>, f\?: number, g\?: boolean/,
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
