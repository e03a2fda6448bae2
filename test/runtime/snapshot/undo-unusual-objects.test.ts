import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { inspect } from "node:util"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { RuntimeLoss } from "../../../src/runtime/runtime.ts"

interface Odd {
  /** A cell that creates the object. */
  made: string
  /** The change that is rolled back. */
  change: string
  /** An expression with the same value afterwards. */
  seen: string
}

const comesBack: { [what: string]: Odd } = {
  "a symbol that an array got": {
    made: "const a = [1, 2]",
    change: "a[Symbol.for('s')] = 5",
    seen: "Reflect.ownKeys(a)",
  },
  "a symbol that a long array got": {
    made: "const a = Array.from({ length: 1000 }, (_, i) => i)",
    change: "a[Symbol.for('s')] = 5",
    seen: "Reflect.ownKeys(a).length",
  },
  "a symbol of an array, and what is under it": {
    made: "const s = Symbol('s'); const a = [1, 2]; a[s] = { n: 1 }",
    change: "a[s].n = 2; delete a[s]",
    seen: "a[s].n",
  },
  "a hidden property of an array": {
    made: "const a = [1]; Object.defineProperty(a, 'hidden', { value: { n: 1 }, writable: true, configurable: true })",
    change: "a.hidden.n = 2; a.hidden = 3",
    seen: "[a.hidden.n, Object.getOwnPropertyNames(a)]",
  },
  "a hidden property that a long array got": {
    made: "const a = Array.from({ length: 1000 }, (_, i) => i)",
    change: "Object.defineProperty(a, 'hidden', { value: 1, configurable: true })",
    seen: "'hidden' in a",
  },
  "an element that cannot be written, or is hidden": {
    made: "const a = [1, 2, 3]; Object.defineProperty(a, 0, { writable: false }); Object.defineProperty(a, 1, { enumerable: false })",
    change: "a[1] = 9; a.length = 0",
    seen: "Object.getOwnPropertyDescriptors(a)",
  },
  "an element that was made constant": {
    made: "const a = [1, 2]",
    change: "Object.defineProperty(a, 0, { writable: false })",
    seen: "Object.getOwnPropertyDescriptor(a, 0)",
  },
  "an element with nothing but a setter": {
    made: "let got = 0; const a = [1, 2]; Object.defineProperty(a, 1, { set(v) { got++ }, configurable: true, enumerable: true })",
    change: "a[0] = 7; Object.defineProperty(a, 1, { value: 3 })",
    seen: "[a[0], got, typeof Object.getOwnPropertyDescriptor(a, 1).set]",
  },
  "a sealed array": { made: "const a = Object.seal([1, 2])", change: "a[0] = 3", seen: "[a[0], Object.isSealed(a)]" },
  "an array that is nearly empty, of millions of places": {
    made: "const a = []; a[20_260_101] = { n: 1 }",
    change: "a[20_260_101].n = 2; a[7] = 1",
    seen: "[Object.keys(a), a[20_260_101].n]",
  },
  "properties of a typed array": {
    made: "const t = new Float64Array([1, 2]); t.meta = { n: 1 }",
    change: "t.meta.n = 2; t.more = 1; t[0] = 5",
    seen: "[t.meta.n, t.more, t[0]]",
  },
  "a property that a long typed array got": {
    made: "const t = new Float64Array(1000)",
    change: "t.more = 1; t[999] = 5",
    seen: "[t.more, t[999]]",
  },
  "the prototype of a typed array": {
    made: "const t = new Uint8Array(2)",
    change: "Object.setPrototypeOf(t, null)",
    seen: "t instanceof Uint8Array",
  },
  "the size of a buffer that grew": {
    made: "const b = new ArrayBuffer(4, { maxByteLength: 16 }); const t = new Uint8Array(b); t[0] = 1",
    change: "b.resize(8); t[5] = 1; t[0] = 2",
    seen: "[b.byteLength, [...t]]",
  },
  "the size of a buffer that only a view shows": {
    made: "const t = new Uint8Array(new ArrayBuffer(4, { maxByteLength: 16 })); t[3] = 1",
    change: "t.buffer.resize(2)",
    seen: "[...t]",
  },
  "a view that was out of bounds": {
    made: "const b = new ArrayBuffer(4, { maxByteLength: 16 }); const v = new DataView(b, 2, 2); b.resize(1)",
    change: "b.resize(8)",
    seen: "b.byteLength",
  },
  "what was given away before": {
    made: "const b = new ArrayBuffer(4); const t = new Uint8Array(b); const v = new DataView(b); b.transfer()",
    change: "t.more = 1",
    seen: "[b.detached, t.length, t.more]",
  },
  "a view with the prototype of another kind": {
    made: "const t = Object.setPrototypeOf(new Uint8Array([1, 2]), DataView.prototype)",
    change: "t[0] = 5",
    seen: "t[0]",
  },
  "a pattern that was compiled again": {
    made: "const p = /a/g; p.lastIndex = 3",
    change: "p.compile('b', 'i')",
    seen: "[String(p), p.lastIndex]",
  },
  "what only a weak reference leads to": {
    made: "const held = (() => { const o = { n: 1 }; return { weak: new WeakRef(o), keep: () => o } })()",
    change: "held.weak.deref().n = 2",
    seen: "held.keep().n",
  },
}

describe("a transaction that fails brings back", () => {
  for (const [what, { made, change, seen }] of Object.entries(comesBack)) {
    test(what, async () => {
      await using runtime = jsRuntime()
      const look = async () => {
        const execution = await runtime.execute(seen)
        assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
        return inspect(execution.value, { depth: 5 })
      }
      assert.ok((await runtime.execute(made)).ok)
      const before = await look()
      assert.deepEqual(await rolledBack(runtime, change), [])
      assert.equal(await look(), before)
    })
  }
})

const isNamed: { [what: string]: { made: string; change: string; lost: Omit<RuntimeLoss, "reason">; why: RegExp } } = {
  "#private fields of a kind of array": {
    made: "class Stack extends Array { #n = 0; up() { return ++this.#n } }; const s = new Stack()",
    change: "s.up()",
    lost: { name: "s" },
    why: /#private fields of Stack/,
  },
  "#private fields of a kind of typed array": {
    made: "class Bytes extends Uint8Array { #n = 0; up() { return ++this.#n } }; const s = new Bytes(2)",
    change: "s.up()",
    lost: { name: "s" },
    why: /#private fields of Bytes/,
  },
  "an iterator that went on": {
    made: "const steps = [1, 2, 3].values(); const pairs = new Map([[1, 2]]).entries()",
    change: "steps.next()",
    lost: { name: "steps" },
    why: /Array Iterator keeps state/,
  },
  "a buffer that was given away": {
    made: "const b = new ArrayBuffer(4)",
    change: "b.transfer()",
    lost: { name: "b" },
    why: /gave it away/,
  },
  "what was removed from an object that takes nothing new": {
    made: "const o = Object.preventExtensions({ a: 1 })",
    change: "delete o.a",
    lost: { name: "o" },
    why: /cannot be added again/,
  },
  "what was added to a class of the language": {
    made: "1",
    change: "String.prototype.shout = function () { return this + '!' }",
    lost: { name: "String", path: ".prototype.shout" },
    why: /the whole program/,
  },
}

describe("a transaction that fails names", () => {
  for (const [what, { made, change, lost, why }] of Object.entries(isNamed)) {
    test(what, async (context) => {
      context.after(() => Reflect.deleteProperty(String.prototype, "shout"))
      await using runtime = jsRuntime()
      assert.ok((await runtime.execute(made)).ok)
      const [first, ...others] = await rolledBack(runtime, change)
      const { reason, ...place } = first ?? { reason: "" }
      assert.deepEqual([place, others], [lost, []])
      assert.match(reason, why)
    })
  }
})

async function rolledBack(runtime: ReturnType<typeof jsRuntime>, change: string): Promise<RuntimeLoss[]> {
  const execution = await runtime.execute(`${change}\nthrow new Error("no")`, { transaction: true })
  assert.ok(!execution.ok)
  assert.equal(execution.error.message.split("\n")[0], "Error: no")
  return execution.notRolledBack ?? assert.fail("it was not rolled back")
}
