import assert from "node:assert/strict"
import { test } from "node:test"
import type { Bindings } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { functionRule } from "../../../src/runtime/rules/rules.ts"
import type { Runtime, RuntimeLoss } from "../../../src/runtime/runtime.ts"
import { cellValue } from "../cell-results.ts"

/** Returns a new runtime with the snapshot of cells. */
async function moved(cells: string[], bindings: () => Bindings = () => ({})) {
  const first = jsRuntime(bindings())
  for (const code of cells) await cellValue(first, code)
  return copyOf(first, jsRuntime(bindings()))
}

async function copyOf(first: Runtime, runtime: Runtime) {
  const snapshot = await first.snapshot?.()
  assert.ok(snapshot)
  const lost = await runtime.restore?.(snapshot)
  return { runtime, lost, value: (code: string) => cellValue(runtime, code) }
}

const told = (lost: RuntimeLoss[] | undefined) =>
  lost?.map(({ name, path = "", reason }) => `${name}${path}: ${reason}`)

test("functions of every form come back from their source and see the restored names", async () => {
  const { value, lost } = await moved([
    "let base = 10",
    "function add(n: number): number { return n + base } async function later() { return add(1) } function* count() { yield base }",
    "const times = (n: number) => n * base; const twice = function (n) { return times(n) * 2 }; let wrapped = ((n) => n) as (n: number) => number",
    "export const shown = async () => await later()",
  ])
  assert.deepEqual(lost, [])
  assert.deepEqual(
    await value("[add(1), await later(), [...count()], times(2), twice(2), wrapped(3), await shown()]"),
    [11, 11, [10], 20, 40, 3, 11],
  )
  assert.equal(await value("base = 1; add(1)"), 2)
  assert.deepEqual(await value("[add.name, times.name, twice.name]"), ["add", "times", "twice"])
})

test("a function is restored once, whatever names and data hold it", async () => {
  const { value } = await moved([
    "const f = () => 1; const g = f; const table = { f, list: [f], by: new Map([[f, 'f']]) }; let h = f; class A {} const kinds = { A }",
  ])
  assert.equal(
    await value(
      "g === f && h === f && table.f === f && table.list[0] === f && table.by.get(f) === 'f' && kinds.A === A",
    ),
    true,
  )
})

test("only declarations run again: no initialiser, no statement, no call", async () => {
  let calls = 0
  const bindings = () => ({ tick: () => ++calls })
  const { value, lost } = await moved(
    [
      "const n = await tick(); const make = () => tick(); const made = (() => { tick(); return () => 1 })(); await tick()",
    ],
    bindings,
  )
  const before = calls
  assert.deepEqual(told(lost), ["made: a function that no cell declared at its top level"])
  assert.equal(await value("n"), 1)
  assert.equal(calls, before)
  await value("await make()")
  assert.equal(calls, before + 1)
})

test("a name that was given another function is restored by that one's own source or lost", async () => {
  const { value, lost } = await moved([
    "let f = () => 'first'; const second = () => 'second'; function memo(fn) { return () => fn() }",
    "f = second",
    "let g = () => 'plain'; g = memo(g)",
    "let h = () => 1",
    "h = memo(h)",
  ])
  assert.equal(await value("f()"), "second")
  assert.deepEqual(told(lost), [
    "g: a function that no cell declared at its top level",
    "h: a function that no cell declared at its top level",
  ])
})

test("a function that was declared again is the newest one, and an older one in data stays the older", async () => {
  const { value } = await moved(["function f() { return 1 } const old = [f]", "function f() { return 2 }"])
  assert.deepEqual(await value("[f(), old[0]()]"), [2, 1])
})

test("properties that a function was given come back", async () => {
  const { value } = await moved(["function cached() {} cached.hits = new Map([['a', cached]]); cached.size = 3"])
  assert.equal(await value("cached.hits.get('a') === cached && cached.size"), 3)
})

test("classes come back with their instances, inheritance, accessors and methods", async () => {
  const { value, lost } = await moved([
    "class Shape { constructor(public name: string) {} get loud() { return this.name.toUpperCase() } area() { return 0 } }",
    "class Square extends Shape { side = 2; override area() { return this.side ** 2 } static unit() { return new Square('unit') } }",
    "const square = new Square('s'); square.side = 3; const all = [square, new Shape('x')]",
  ])
  assert.deepEqual(lost, [])
  assert.deepEqual(
    await value("[square.area(), square.loud, all[0] === square, all[1] instanceof Square, Square.unit().area()]"),
    [9, "S", true, false, 4],
  )
  assert.equal(
    await value("square instanceof Square && square instanceof Shape && Object.getPrototypeOf(Square) === Shape"),
    true,
  )
})

test("instances of an older version of a class stay instances of that version", async () => {
  const { value } = await moved([
    "class P { v() { return 1 } } class Sub extends P {} const old = new P(); const sub = new Sub()",
    "class P { v() { return 2 } } const fresh = new P()",
  ])
  assert.deepEqual(await value("[old.v(), sub.v(), fresh.v(), old instanceof P, fresh instanceof P]"), [
    1,
    1,
    2,
    false,
    true,
  ])
  assert.equal(await value("Object.getPrototypeOf(Sub) === old.constructor"), true)
})

test("static fields have the values they had, and their initialisers do not run again", async () => {
  let calls = 0
  const bindings = () => ({ tick: () => ++calls })
  const { value, lost } = await moved(
    [
      "class Counter { static count = 0; static started = tick(); static table = new Map(); static make = () => new Counter(); static { tick() } }",
      "Counter.count = 7; Counter.table.set('a', Counter); Counter.more = [1]; await Counter.started",
      "Counter.started = 'yes'",
    ],
    bindings,
  )
  assert.equal(calls, 2)
  assert.deepEqual(lost, [])
  assert.deepEqual(await value("[Counter.count, Counter.started, Counter.table.get('a') === Counter, Counter.more]"), [
    7,
    "yes",
    true,
    [1],
  ])
  assert.equal(await value("Counter.make() instanceof Counter"), true)
})

test("instances with #private fields are lost, their class is not", async () => {
  const { value, lost } = await moved([
    "class Safe { #n = 1; open() { return this.#n } } const safe = new Safe(); const box = { safe }",
  ])
  assert.deepEqual(told(lost), [
    "safe: an instance of Safe, whose #private members other code cannot read or add",
    "box.safe: an instance of Safe, whose #private members other code cannot read or add",
  ])
  assert.equal(await value("new Safe().open()"), 1)
})

test("classes that extend built-ins or injected classes come back", async () => {
  class Device {
    id = 1
  }
  const { value, lost } = await moved(
    [
      "class Stack extends Array { top() { return this.at(-1) } } const stack = Stack.from([1, 2]); class Index extends Map {} const index = new Index([['a', stack]])",
      "class Lamp extends Device { on = true } const lamp = new Lamp()",
    ],
    () => ({ Device }),
  )
  assert.deepEqual(lost, [])
  assert.deepEqual(
    await value("[stack.top(), stack.length, index.get('a') === stack, index instanceof Index, lamp.id]"),
    [2, 2, true, true, 1],
  )
  assert.equal(await value("lamp instanceof Lamp && lamp instanceof Device && stack instanceof Stack"), true)
})

test("a class that can only be made by running code is lost with the reason, and so are its instances", async () => {
  const { lost } = await moved([
    "const mixin = (Base) => class extends Base {}; class A {} class B extends mixin(A) {} const b = new B(); const key = 'k'; class C { [key]() {} }",
  ])
  assert.deepEqual(told(lost), [
    "B: a function or class that cannot be declared again: its superclass is an expression",
    "b: an instance of a class that is lost: a function or class that cannot be declared again: its superclass is an expression",
    "C: a function or class that cannot be declared again: the name of a member is an expression",
  ])
})

test("methods under symbols come back", async () => {
  const { value } = await moved([
    "class Range { constructor(public n: number) {} *[Symbol.iterator]() { for (let i = 0; i < this.n; i++) yield i } } const range = new Range(3)",
  ])
  assert.deepEqual(await value("[...range]"), [0, 1, 2])
})

test("constructor functions come back without what was put on their prototype, which is named", async () => {
  const { value, lost } = await moved([
    "function Point(x) { this.x = x } Point.prototype.twice = function () { return this.x * 2 }; const point = new Point(4)",
  ])
  assert.deepEqual(told(lost), ["Point.twice: it was added to the prototype of a class"])
  assert.equal(await value("point instanceof Point && point.x"), 4)
})

test("a function that means a name of the namespace still means it where a global has the same name", async () => {
  const { value } = await moved([
    "const early = () => typeof process + typeof structuredClone",
    "let process = 'mine'; var structuredClone = 5",
    "const late = () => typeof process + typeof structuredClone",
  ])
  assert.deepEqual(await value("[early(), late(), process]"), ["objectfunction", "stringnumber", "mine"])
})

test("enums are data, and functions may use them", async () => {
  const { value } = await moved(["enum Colour { Red, Green = 'g' } const name = () => Colour[0] + Colour.Green"])
  assert.equal(await value("name()"), "Redg")
})

test("a function that a cell declared over an injected name is the cell's", async () => {
  const { value } = await moved(["function send() { return 'mine' }"], () => ({ send: () => "host's" }))
  assert.equal(await value("send()"), "mine")
})

test("restored functions can be taken into the next snapshot, and are stopped by time-outs as before", async () => {
  const { runtime } = await moved(["const spin = () => { for (;;); }; class A { x = 1 } const a = new A()"])
  const { value, runtime: third } = await copyOf(runtime, jsRuntime())
  assert.equal(await value("a instanceof A && a.x"), 1)
  const execution = await third.execute("spin()", { timeoutMs: 10 })
  assert.ok(!execution.ok)
  assert.equal(execution.error.kind, "timeout")
})

test("the rules of a runtime hold for what is restored into it", async () => {
  const first = jsRuntime()
  await cellValue(first, "const evil = () => eval('1'); const good = () => 1")
  const { lost, value } = await copyOf(first, jsRuntime({}, { rules: [functionRule(["eval"])] }))
  assert.equal(lost?.length, 1)
  assert.equal(lost?.[0]?.name, "evil")
  assert.equal(await value("good()"), 1)
})

test("a rolled back cell leaves no source behind", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let f = () => 'kept'")
  await runtime.execute("f = () => 'undone'; function g() {} throw 1", { transaction: true })
  const { value, lost } = await copyOf(runtime, jsRuntime())
  assert.deepEqual(lost, [])
  assert.equal(await value("f() + typeof g"), "keptundefined")
})
