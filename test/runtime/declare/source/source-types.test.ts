import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { Session } from "node:inspector"
import { DatabaseSync } from "node:sqlite"
import { mock, test } from "node:test"
import { Document, YAMLMap } from "yaml"
import { classType, fn, variable } from "../../../../src/runtime/bindings.ts"
import { bound, declared } from "../declare-text.ts"
import * as home from "./fixture/home.ts"
import { declaredFromFiles, homeBindings, homeDeclarations } from "./fixture-bindings.ts"

const shown = (bindings: object, remote = false) => declaredFromFiles(bound({ ...bindings }), remote)

test("functions, classes and objects are declared with the types, comments and imported types of their files", () => {
  assert.equal(declaredFromFiles(homeBindings(home)), homeDeclarations)
})

test("in another process the same types are shown with a Promise for each member", () => {
  const text = declaredFromFiles(homeBindings(home), true)
  assert.match(text, /^ {2}dim\(to: Level, fade\?: Fade\): Promise<void>$/m)
  assert.match(text, /^ {2}get tags\(\): Promise<Map<string, Fade>>$/m)
  assert.match(text, /^ {2}find\(name: string, strict\?: boolean\): Promise<Light\[\]>$/m)
  assert.match(text, /^declare function findLights\(where: Room, limit\?: number\): Promise<Light\[\]>$/m)
  assert.doesNotMatch(text, /watts|secret/)
})

test("a signature, a schema, a source or a type wins over the file", () => {
  const { findLights } = home
  const input = { type: "object", properties: { name: { type: "string" } } }
  assert.equal(
    shown({ f: fn(findLights, { signature: "(where: string) => string[]" }) }),
    "declare function f(where: string): Promise<string[]>",
  )
  assert.match(
    shown({ f: fn(findLights, { input }) }),
    /where: FInput, limit|where: FInput\)|where: \{ name\?: string \}/,
  )
  assert.equal(
    shown({ f: fn(findLights, { source: "function findLights(x: 1): 2 {}" }) }),
    "declare function f(x: 1): Promise<2>",
  )
  const source = "class Light { dim(to: 1): void {} }"
  assert.equal(shown({ Light: classType(home.Light, { source }) }), "declare class Light {\n  dim(to: 1): void\n}")
  assert.match(
    shown({ light: variable(new home.Light("x"), { type: "{ on: boolean }" }) }),
    /^declare const light: \{ on/,
  )
})

test("a description replaces only the comment", () => {
  assert.equal(
    shown({ add: fn(home.add, { description: "Adds." }) }),
    "/** Adds. */\ndeclare function add(a: number, b?: number): Promise<number>",
  )
})

test("two types of one name get two names", () => {
  interface Fade {
    own: true
  }
  const text = shown({ light: new home.Light("x"), Fade: "a string" })
  assert.match(text, /^interface Fade2 \{$/m)
  assert.match(text, /dim\(to: Level, fade\?: Fade2\)/)
  assert.match(text, /^declare let Fade: string/m)
  // A type inside a function is not found.
  assert.match(shown({ f: (fade: Fade) => fade }), /f\(fade: unknown\): Promise<any>$/)
})

class Base<T> {
  value?: T
  list(): T[] {
    return []
  }
}
class Named extends Base<string | number> {
  own(): void {}
}
class Bot extends EventEmitter {
  private token = "t"
  /** Sends a text. @param text What to say. */
  send(text: string, to?: string): Promise<string> {
    return Promise.resolve(text + to + this.token)
  }
}

test("a base class that is shown has its type arguments, and one that is not shown is replaced by its members", () => {
  assert.match(shown({ named: new Named() }), /^ {2}list\(\): \(string \| number\)\[\]$/m)
  const text = shown({ Base, named: new Named() })
  assert.match(text, /^declare class Base<T = any> \{$/m)
  assert.match(text, /^declare class Named extends Base<string \| number> \{$/m)
})

class Table<T = Fields> {
  rows: T[] = []
  pick<K extends keyof Fields>(key: K): Fields[K][] {
    return [key].map(() => "" as Fields[K])
  }
  map<U>(change: (row: T) => U): U[] {
    return this.rows.map(change)
  }
  first<D>(otherwise: D): T | D
  first(otherwise?: unknown): unknown {
    return this.rows[0] ?? otherwise
  }
  static async read<R extends Fields>(path: string, row: R): Promise<Table<R>> {
    return Object.assign(new Table<R>(), { rows: [row], path })
  }
}
interface Fields {
  name: string
}

test("generic methods of a class keep their type parameters, from its file and from a source", () => {
  const methods =
    /^ {2}pick<K extends keyof Fields>\(key: K\): Fields\[K\]\[\]\n {2}map<U>\(change: \(row: T\) => U\): U\[\]\n {2}first<D>\(otherwise: D\): T \| D$/m
  const text = shown({ Table })
  assert.match(text, methods)
  assert.match(text, /^ {2}static read<R extends Fields>\(path: string, row: R\): Promise<Table<R>>$/m)
  assert.match(
    shown({ table: new Table() }, true),
    /^ {2}pick<K extends keyof Fields>\(key: K\): Promise<Fields\[K\]\[\]>$/m,
  )
  const source = "class Table { find<K extends string>(key: K): K }"
  assert.match(shown({ Table: classType(class Table {}, { source }) }), /^ {2}find<K extends string>\(key: K\): K$/m)
})

test("a class with a base of the platform can have any member", () => {
  assert.equal(
    shown({ bot: new Bot() }),
    `declare class Bot /* extends EventEmitter */ {
  /**
   * Sends a text.
   * @param text What to say.
   */
  send(text: string, to?: string): Promise<string>
  [member: string]: any
}
declare const bot: Bot`,
  )
})

test("a class of the platform or of a package is referred to", () => {
  const db = new DatabaseSync(":memory:")
  assert.equal(shown({ db }), 'declare const db: import("node:sqlite").DatabaseSync')
  assert.equal(shown({ bus: new EventEmitter() }), 'declare const bus: import("node:events").EventEmitter')
  assert.equal(shown({ map: new YAMLMap() }), 'declare const map: import("yaml").YAMLMap')
  assert.equal(
    shown({ Document }),
    'declare const Document: typeof import("yaml").Document\ntype Document = import("yaml").Document',
  )
  assert.match(
    shown({ Document }, true),
    /^type Document = Handle<import\("yaml"\)\.Document>\ndeclare const Document: \{ new \(\.\.\.args: ConstructorParameters/m,
  )
  assert.match(shown({ db }, true), /^declare const db: Handle<import\("node:sqlite"\)\.DatabaseSync>$/m)
  assert.match(
    shown({ find: fn(() => db, { signature: "() => DatabaseSync" }), db }),
    /^type DatabaseSync = import\("node:sqlite"\)\.DatabaseSync$/m,
  )
})

class Wide {
  m01(): 1 {
    return 1
  }
  m02(): 1 {
    return 1
  }
  m03(): 1 {
    return 1
  }
  m04(): 1 {
    return 1
  }
  m05(): 1 {
    return 1
  }
  m06(): 1 {
    return 1
  }
  m07(): 1 {
    return 1
  }
  m08(): 1 {
    return 1
  }
  m09(): 1 {
    return 1
  }
  m10(): 1 {
    return 1
  }
  m11(): 1 {
    return 1
  }
  m12(): 1 {
    return 1
  }
  m13(): 1 {
    return 1
  }
  m14(): 1 {
    return 1
  }
  m15(): 1 {
    return 1
  }
  m16(): 1 {
    return 1
  }
  m17(): 1 {
    return 1
  }
  m18(): 1 {
    return 1
  }
  m19(): 1 {
    return 1
  }
  m20(): 1 {
    return 1
  }
  m21(): 1 {
    return 1
  }
  m22(): 1 {
    return 1
  }
  m23(): 1 {
    return 1
  }
  m24(): 1 {
    return 1
  }
  m25(): 1 {
    return 1
  }
  m26(): 1 {
    return 1
  }
  m27(): 1 {
    return 1
  }
  m28(): 1 {
    return 1
  }
  m29(): 1 {
    return 1
  }
  m30(): 1 {
    return 1
  }
  m31(): 1 {
    return 1
  }
  m32(): 1 {
    return 1
  }
  m33(): 1 {
    return 1
  }
  m34(): 1 {
    return 1
  }
  m35(): 1 {
    return 1
  }
  m36(): 1 {
    return 1
  }
  m37(): 1 {
    return 1
  }
  m38(): 1 {
    return 1
  }
  m39(): 1 {
    return 1
  }
  m40(): 1 {
    return 1
  }
  m41(): 1 {
    return 1
  }
  m42(): 1 {
    return 1
  }
}

test("at most 40 members of a class are shown, and the others can be used", () => {
  const text = shown({ wide: new Wide() })
  assert.equal(text.match(/^ {2}m\d\d\(\)/gm)?.length, 40)
  assert.match(text, /m40\(\): 1\n {2}\[member: string\]: any\n\}/)
})

test("without the file a parameter of unknown type is never required", () => {
  const f = (first: string, second?: number) => [first, second]
  assert.equal(declared({ f }), "declare function f(first?: unknown, second?: unknown): Promise<any> // inferred")
  assert.equal(shown({ f }), "declare function f(first: string, second?: number): Promise<any>")
})

test("code that no file has is inferred", () => {
  const made = new Function("a", "b = 1", "return a + b")
  const hidden = new Proxy(home.add, {})
  assert.match(shown({ made }), /made\(a\?: unknown, b\?: number\): Promise<any> \/\/ inferred$/)
  assert.match(shown({ hidden: { call: hidden } }), /call: any/)
  assert.match(shown({ max: Math.max }), /max\(\.\.\.args: unknown\[\]\): Promise<any> \/\/ inferred$/)
})

test("a description of all names opens one session and closes it, and the next one opens none", () => {
  const connect = mock.method(Session.prototype, "connect")
  const disconnect = mock.method(Session.prototype, "disconnect")
  try {
    const bindings = bound({ f: (a: string) => a, g: (b: number) => b, o: { h: (c: Date) => c } })
    const first = declaredFromFiles(bindings)
    assert.match(first, /h\(c: Date\): any/)
    assert.equal(connect.mock.callCount(), 1)
    assert.equal(disconnect.mock.callCount(), 1)
    assert.equal(declaredFromFiles(bindings), first)
    assert.equal(connect.mock.callCount(), 1)
  } finally {
    mock.restoreAll()
  }
})

test("if the inspector fails, everything is inferred", () => {
  const f = (a: string) => a
  const connect = mock.method(Session.prototype, "connect", () => {
    throw new Error("forbidden")
  })
  try {
    assert.equal(shown({ f }), declared({ f }))
    assert.equal(connect.mock.callCount(), 1)
  } finally {
    mock.restoreAll()
  }
})

test("in JavaScript the types of the comments are shown, as far as they are of the language", async () => {
  const { Counter, greet } = await import(new URL("fixture/counter.js", import.meta.url).href)
  assert.equal(
    shown({ Counter, greet }),
    `/** Counts things. */
declare class Counter { // inferred
  /** @param {number} start Where to begin. */
  constructor(start: number)
  /** @type {Date | undefined} */
  last: Date | undefined
  count: any
  /**
   * Adds to the count.
   * @param {number} by How much.
   * @param {Unknown} [note]
   * @returns {number}
   */
  add(by: number, note?: unknown): number
}
/**
 * Greets somebody.
 * @param name Who.
 * @param options How.
 * @param other What else.
 */
declare function greet(name: string, options?: { loud?: boolean }, other?: unknown): Promise<string[]> // inferred`,
  )
})
