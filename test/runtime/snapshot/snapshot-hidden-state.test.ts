import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { cellValue } from "../cell-results.ts"

/** A cell, an expression that reads its state, and the names that are reported as lost: if none are, the expression has
 *  the same value after the restore. */
type Case = { cell: string; read: string; lost?: [name: string, reason: RegExp][] }

const privateMembers = (name: string): [string, RegExp] => ["a", new RegExp(`^an instance of ${name}, whose #private`)]
const notTopLevel = /^a function that no cell declared at its top level$/

const cases: { [title: string]: Case } = {
  "a #private field": {
    cell: "class A { #n = 1; go() { return this.#n } } const a = new A()",
    read: "a.go()",
    lost: [privateMembers("A")],
  },
  "a #private method": {
    cell: "class A { #m() { return 1 } go() { return this.#m() } } const a = new A()",
    read: "a.go()",
    lost: [privateMembers("A")],
  },
  "a #private getter": {
    cell: "class A { get #x() { return 1 } go() { return this.#x } } const a = new A()",
    read: "a.go()",
    lost: [privateMembers("A")],
  },
  "a #private setter": {
    cell: "class A { set #x(n) {} go() { this.#x = 1; return 1 } } const a = new A()",
    read: "a.go()",
    lost: [privateMembers("A")],
  },
  "a #private method that is only tested with `in`": {
    cell: "class A { #m() {} static is(o) { return #m in o } } const a = new A()",
    read: "A.is(a)",
    lost: [privateMembers("A")],
  },
  "the #private method of a superclass": {
    cell: "class A { #m() { return 1 } go() { return this.#m() } } class B extends A {} const a = new B()",
    read: "a.go()",
    lost: [privateMembers("B")],
  },
  "the #private method of a superclass whose prototype does not name it": {
    cell: "class A { #m() { return 1 } go() { return this.#m() } } delete A.prototype.constructor; class B extends A {} const a = new B()",
    read: "a.go()",
    lost: [privateMembers("B")],
  },
  "the #private method of an error": {
    cell: "class E extends Error { #m() { return 1 } go() { return this.#m() } } const a = new E('no')",
    read: "a.go()",
    lost: [privateMembers("E")],
  },
  "the #private method of a list": {
    cell: "class L extends Array { #m() { return 1 } go() { return this.#m() } } const a = new L()",
    read: "a.go()",
    lost: [privateMembers("L")],
  },
  "a #private field on an object that the constructor of a superclass returned": {
    cell: "class Same { constructor(o) { return o } } class A extends Same { #n = 1; static read(o) { return o.#n } } const a = {}; new A(a)",
    read: "A.read(a)",
    lost: [["A", /^#private members on objects that the constructor of its superclass returned/]],
  },
  "a #private method on an object that a function returned as a constructor": {
    cell: "function Same(o) { return o } class A extends Same { #m() { return 1 } static read(o) { return o.#m() } } const a = {}; new A(a)",
    read: "A.read(a)",
    lost: [["A", /^#private members on objects that the constructor of its superclass returned/]],
  },
  "a static #private field": {
    cell: "class A { static #n = 0; static up() { return ++A.#n } } A.up()",
    read: "A.up()",
    lost: [["A", /^static #private fields/]],
  },
  "a static #private method": {
    cell: "class A { static #m() { return 1 } static go() { return A.#m() } }",
    read: "A.go()",
  },
  "a static #private getter": {
    cell: "class A { static get #x() { return 1 } static go() { return A.#x } }",
    read: "A.go()",
  },
  "an instance of a class with static #private methods only": {
    cell: "class A { static #m() { return 1 } n = 2; go() { return A.#m() + this.n } } const a = new A(); a.n = 5",
    read: "a.go()",
  },
  "a class with a # in a string": {
    cell: "class A { colour = '#fff'; go() { return '#go' + this.colour } } const a = new A()",
    read: "a.go()",
  },
  "what a static block set": { cell: "class A { static n; static { A.n = 4 } } A.n++", read: "A.n" },
  "a function that a static block gave away": {
    cell: "let read; class A { #n = 1; static { read = (o) => o.#n } } const a = new A()",
    read: "read(a)",
    lost: [["read", notTopLevel], privateMembers("A")],
  },
  "the variables of a function that returned a function": {
    cell: "function counter() { let n = 0; return () => ++n } const a = counter(); a()",
    read: "a()",
    lost: [["a", notTopLevel]],
  },
  "a variable of the block around a `var` function": {
    cell: "{ let n = 0; var a = () => ++n } a()",
    read: "a()",
    lost: [["a", notTopLevel]],
  },
  "a variable of the block around a `var` class": {
    cell: "{ let n = 0; var A = class { static up() { return ++n } } } A.up()",
    read: "A.up()",
    lost: [["A", notTopLevel]],
  },
  "the variable of a loop": {
    cell: "for (const i of [1, 2]) { var a = () => i }",
    read: "a()",
    lost: [["a", notTopLevel]],
  },
  "the error of a catch block": {
    cell: "try { throw 1 } catch (error) { var a = () => error }",
    read: "a()",
    lost: [["a", notTopLevel]],
  },
  "a `var` function in a block that uses the namespace and its own variables only": {
    cell: "let n = 1; { var a = (by) => { const next = n + by; return next } }",
    read: "a(2)",
  },
  "a bound function": {
    cell: "function f() { return this.n } const a = f.bind({ n: 2 })",
    read: "a()",
    lost: [["a", notTopLevel]],
  },
  "the position of a generator": {
    cell: "function* f() { yield 1; yield 2 } const a = f(); a.next()",
    read: "a.next().value",
    lost: [["a", /^a generator$/]],
  },
  "a WeakMap": {
    cell: "const w = new WeakMap(); class A { constructor() { w.set(this, 1) } go() { return w.get(this) } } const a = new A()",
    read: "a.go()",
    lost: [["w", /^a WeakMap/]],
  },
  "a WeakSet": {
    cell: "const w = new WeakSet(); const a = {}; w.add(a)",
    read: "w.has(a)",
    lost: [["w", /^a WeakSet/]],
  },
  "a WeakMap around a class": {
    cell: "const A = (() => { const w = new WeakMap(); return class Inner { static keep(o) { w.set(o, 1) } static has(o) { return w.has(o) } } })(); const a = {}; A.keep(a)",
    read: "A.has(a)",
    lost: [["A", notTopLevel]],
  },
  "a property with a symbol key": {
    cell: "const a = { [Symbol.for('x')]: 1 }",
    read: "a[Symbol.for('x')]",
    lost: [["a", /^a symbol is its key$/]],
  },
  "a static property with a symbol key": {
    cell: "class A { static [Symbol.iterator]() {} } A[Symbol.toPrimitive] = 3",
    read: "A[Symbol.toPrimitive]",
    lost: [["A", /^a symbol is its key$/]],
  },
  "a static method replaced with a declared function": {
    cell: "class A { static go() { return 1 } } const f = () => 2; A.go = f",
    read: "[A.go(), Object.keys(A)]",
  },
  "a static method replaced with a nameless function": {
    cell: "class A { static go() { return 1 } } A.go = () => 2",
    read: "A.go()",
    lost: [["A", notTopLevel]],
  },
  "a static function field replaced with a declared function": {
    cell: "class A { static go = () => 1 } const f = () => 2; A.go = f",
    read: "A.go()",
  },
  "a method replaced on the prototype": {
    cell: "class A { go() { return 1 } } A.prototype.go = () => 2; const a = new A()",
    read: "a.go()",
    lost: [["A", /^it was added to the prototype of a class$/]],
  },
}

describe("hidden state is restored, or named as lost:", () => {
  for (const [title, { cell, read, lost = [] }] of Object.entries(cases)) {
    test(title, async () => {
      await using before = jsRuntime({})
      await using after = jsRuntime({})
      await cellValue(before, cell)
      const snapshot = await before.snapshot?.()
      assert.ok(snapshot)
      const reported = (await after.restore?.(snapshot)) ?? []
      assert.deepEqual(
        reported.map(({ name }) => name),
        lost.map(([name]) => name),
      )
      for (const [at, [, reason]] of lost.entries()) assert.match(reported[at]?.reason ?? "", reason)
      if (lost.length === 0) assert.deepEqual(await cellValue(after, read), await cellValue(before, read))
      else
        await assert.rejects(async () => assert.deepEqual(await cellValue(after, read), await cellValue(before, read)))
    })
  }

  test("`accessor` fields are refused before the cell runs", async () => {
    await using runtime = jsRuntime({})
    await assert.rejects(cellValue(runtime, "class A { accessor x = 1 }"), /`accessor` fields are not supported/)
  })
})
