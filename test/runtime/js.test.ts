import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { AgentError, ConfigError } from "../../src/core/errors.ts"
import { classType, fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { functionRule, type Rule } from "../../src/runtime/rules/rules.ts"
import { safeRules } from "../../src/runtime/rules/safe-rules.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { retrieveAny } from "../retrieve-any.ts"
import { cellValue, errorOf } from "./cell-results.ts"

class Light {
  brightness = 100
  dim(to: number) {
    this.brightness = to
    return this
  }
}

test("a cell works on the very objects of the host", async () => {
  const light = new Light()
  const runtime = jsRuntime({ light })
  const execution = await runtime.execute("light.dim(20)")
  assert.ok(execution.ok)
  assert.equal(execution.value, light)
  assert.equal(light.brightness, 20)
  assert.equal(await runtime.retrieve("light"), light)
})

test("names persist from cell to cell, and closures see later values", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let count = 1; const read = () => count")
  await cellValue(runtime, "count = 41")
  assert.equal(await cellValue(runtime, "count++; read()"), 42)
  await cellValue(runtime, "let count = 'again'")
  assert.equal(await cellValue(runtime, "read()"), "again")
})

test("top-level await works and a trailing promise is awaited", async () => {
  const runtime = jsRuntime()
  assert.equal(await cellValue(runtime, "const x = await Promise.resolve(1); x + 1"), 2)
  assert.equal(await cellValue(runtime, "Promise.resolve('forgot to await')"), "forgot to await")
})

test("two runtimes never share a name", async () => {
  const [one, two] = [jsRuntime({ data: "one" }), jsRuntime({ data: "two" })]
  await cellValue(one, "const secret = data; globalThis.leak = 1")
  assert.equal(await cellValue(two, "data"), "two")
  assert.equal(await cellValue(two, "typeof secret + typeof leak + ('leak' in globalThis)"), "undefinedundefinedfalse")
  assert.equal(errorOf(await two.execute("secret")).message, "ReferenceError: secret is not defined")
  assert.equal(await one.retrieve("data"), "one")
  assert.equal("leak" in globalThis, false)
})

test("a binding given to two runtimes is updated in one only", async () => {
  const shared = variable(1, "a number")
  const [one, two] = [jsRuntime({ shared }), jsRuntime({ shared })]
  await one.update({ shared: 2 })
  assert.equal(await two.retrieve("shared"), 1)
  await two.reset()
  assert.equal(await two.retrieve("shared"), 1)
})

test("an unknown name is a ReferenceError, but typeof and in may ask about it", async () => {
  const runtime = jsRuntime()
  assert.equal(errorOf(await runtime.execute("nothing + 1")).message, "ReferenceError: nothing is not defined")
  assert.equal(errorOf(await runtime.execute("(() => nothing)()")).message, "ReferenceError: nothing is not defined")
  assert.equal(await cellValue(runtime, "typeof nothing"), "undefined")
  assert.match(errorOf(await runtime.execute("require('fs')")).message, /require is not defined: use import/)
})

test("globalThis of a cell reads and writes the namespace and leaves the real one alone", async () => {
  const runtime = jsRuntime({ given: 1 })
  assert.equal(await cellValue(runtime, "globalThis.x = 1; x + globalThis.given"), 2)
  assert.equal(await cellValue(runtime, "global.x + 1"), 2)
  assert.equal(await cellValue(runtime, "globalThis.Array === Array && globalThis.console === console"), true)
  assert.equal(await cellValue(runtime, "'x' in globalThis && globalThis.globalThis === globalThis"), true)
  assert.deepEqual(await cellValue(runtime, "Object.keys(globalThis)"), ["given", "x"])
  assert.equal(await cellValue(runtime, "Object.defineProperty(globalThis, 'y', { value: 5, enumerable: true }); y"), 5)
  const { changes } = await runtime.execute("delete globalThis.x")
  assert.deepEqual(changes.removed, ["x"])
  assert.equal(await cellValue(runtime, "typeof x"), "undefined")
  assert.equal("x" in globalThis || "y" in globalThis, false)
})

test("instanceof holds in both directions for host and cell objects", async () => {
  const runtime = jsRuntime({ Light, list: [1], map: new Map(), date: new Date(0), light: new Light() })
  const code = `[list instanceof Array, [...list] instanceof Array, map instanceof Map, date instanceof Date,
    light instanceof Light, new Light() instanceof Light, date.constructor === Date]`
  assert.deepEqual(await cellValue(runtime, code), Array(7).fill(true))
  const made = await cellValue(runtime, "class Sub extends Light {}; new Sub()")
  assert.ok(made instanceof Light)
  assert.ok((await cellValue(runtime, "new Date()")) instanceof Date)
  assert.ok(
    (await cellValue(runtime, "let caught; try { null.x } catch (error) { caught = error }; caught")) instanceof
      TypeError,
  )
})

test("classes, enums and records that were injected are usable", async () => {
  const Color = { Red: "red", Green: "green" } as const
  const runtime = jsRuntime({ Light: classType(Light), Color, things: [new Light(), "text", new Light()] })
  assert.equal(await cellValue(runtime, "things.filter((thing) => thing instanceof Light).length"), 2)
  assert.equal(await cellValue(runtime, "new Light().dim(5).brightness"), 5)
  assert.equal(await cellValue(runtime, "Color.Green"), "green")
})

test("the class of an injected object is there by itself, and an explicit one wins", async () => {
  const runtime = jsRuntime({ light: new Light() })
  assert.equal(await cellValue(runtime, "light instanceof Light"), true)
  class Other {}
  await runtime.inject({ Light: Other })
  assert.equal(await retrieveAny(runtime, "Light"), Other)
})

test("Map, Date and typed arrays come and go by reference", async () => {
  const [map, date, bytes] = [new Map(), new Date(), new Uint8Array(3)]
  const runtime = jsRuntime({ map, date, bytes })
  await cellValue(runtime, "map.set('k', date); bytes[1] = 7; const alias = bytes")
  assert.equal(map.get("k"), date)
  assert.equal(bytes[1], 7)
  assert.equal(await retrieveAny(runtime, "alias"), bytes)
})

test("injection is all or nothing and names every problem at once", async () => {
  const runtime = jsRuntime({ taken: 1 })
  await cellValue(runtime, "const made = 1")
  const bad = { fine: 1, $$scope: 0, for: 2, "a-b": 3, console: 4, taken: 5, made: 6, later: Promise.resolve(7) }
  await assert.rejects(runtime.inject(bad), (error: unknown) => {
    assert.ok(error instanceof ConfigError)
    for (const name of ["\\$\\$scope", "for", "a-b", "console", "taken", "made", "later"])
      assert.match(error.message, new RegExp(`"${name}"`))
    assert.doesNotMatch(error.message, /"fine"/)
    assert.match(error.message, /"later" is a promise: await it before you inject it/)
    return true
  })
  await assert.rejects(retrieveAny(runtime, "fine"), ConfigError)
  assert.throws(() => jsRuntime({ class: 1 }), ConfigError)
})

test("of several that claim one name at once, one wins", async () => {
  const runtime = jsRuntime()
  const claims = await Promise.allSettled(Array.from({ length: 5 }, (_, at) => runtime.inject({ claimed: at })))
  assert.equal(claims.filter((claim) => claim.status === "fulfilled").length, 1)
  assert.equal(await runtime.retrieve("claimed"), 0)
})

test("a name of one kind is taken for every kind", async () => {
  const runtime = jsRuntime({ thing: new Light() })
  await assert.rejects(runtime.inject({ thing: () => 1 }), /"thing" is already there/)
  await assert.rejects(runtime.inject({ thing: Light }), ConfigError)
})

test("update gives new values to what is there and keeps its kind", async () => {
  const runtime = jsRuntime({ count: 1, add: (a: number) => a + 1, Light })
  await cellValue(runtime, "let made = 'by a cell'; const kept = add")
  await runtime.update({ count: 5, made: "by the host", add: (a: number) => a + 100 })
  assert.equal(await cellValue(runtime, "count + made"), "5by the host")
  assert.equal(await cellValue(runtime, "await kept(1)"), 101)
  await assert.rejects(runtime.update({ nothing: 1 }), /no "nothing"; there is "count"/)
  await assert.rejects(runtime.update({ count: () => 1 }), /"count" is a variable and cannot become a function/)
  await assert.rejects(runtime.update({ add: 3 }), /"add" is a function/)
  await assert.rejects(runtime.update({ Light: () => 1 }), /"Light" is a type/)
  await assert.rejects(runtime.update({ count: Promise.resolve(1) }), /await it first/)
})

test("an update that cannot be done whole is not done at all", async () => {
  const runtime = jsRuntime({ a: 1, b: 2 })
  await assert.rejects(runtime.update({ a: 10, nothing: 1 }), ConfigError)
  assert.equal(await runtime.retrieve("a"), 1)
})

test("a cell may put its own in the place of a global, for its own runtime", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "globalThis.console = { log: (text) => { globalThis.said = text } }; Map = 'mine'")
  assert.equal(await cellValue(runtime, "console.log('hello'); said + Map"), "hellomine")
  assert.equal(await cellValue(jsRuntime(), "typeof console.log + typeof Map"), "functionfunction")
  const accessor = await runtime.execute(
    "Object.defineProperty(globalThis, 'trap', { get() { throw 1 }, enumerable: true })",
  )
  assert.equal(accessor.ok, false)
})

test("a variable that holds a function may get another", async () => {
  const runtime = jsRuntime({ callback: variable(() => 1) })
  await runtime.update({ callback: () => 2 })
  assert.equal(await cellValue(runtime, "callback()"), 2)
})

test("a cell may reassign an injected variable but not an injected function", async () => {
  const runtime = jsRuntime({ count: 1, add: (a: number) => a + 1 })
  await cellValue(runtime, "count = 2")
  assert.equal(await runtime.retrieve("count"), 2)
  assert.match(errorOf(await runtime.execute("add = null")).message, /TypeError: .*constant/)
  assert.equal(await cellValue(runtime, "const add = 'declared again'; add"), "declared again")
})

test("constants cannot be assigned in later cells, only declared again", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const fixed = 1")
  assert.match(errorOf(await runtime.execute("fixed = 2")).message, /TypeError: .*constant/)
  assert.equal(await cellValue(runtime, "let fixed = 3; fixed"), 3)
  assert.equal(await cellValue(runtime, "fixed = 4"), 4)
})

test("retrieve gives any name, and an unknown one is an error that lists what there is", async () => {
  const add = (a: number) => a
  const runtime = jsRuntime({ add, list: [1] })
  await cellValue(runtime, "const mine = { a: 1 }; const alias = add")
  assert.deepEqual(await retrieveAny(runtime, "mine"), { a: 1 })
  assert.equal(await runtime.retrieve("add"), add)
  assert.equal(await retrieveAny(runtime, "alias"), add)
  await assert.rejects(retrieveAny(runtime, "other"), /no "other".*"add", "list", "mine", "alias"/)
})

test("a promise is not retrieved but awaited in a cell first", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const later = Promise.resolve(1); 0")
  await assert.rejects(runtime.retrieve("later"), /"later" is a promise: await it in a cell first/)
})

test("an object with a function under `then` is not retrieved, and the function is not called", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let called = 0; const thenable = { then: () => called++ }; 0")
  await assert.rejects(runtime.retrieve("thenable"), /"thenable" has a function under "then".*rename the key/)
  assert.equal(await cellValue(runtime, "called"), 0)
})

test("a value is kept under a name that was never used", async () => {
  const runtime = jsRuntime({ _output_2: "host" })
  await cellValue(runtime, "const _output_1 = 'mine'; let gone_1 = 1; ")
  await cellValue(runtime, "delete globalThis.gone_1")
  const names = await Promise.all(Array.from({ length: 25 }, (_, at) => runtime.keep("_output", `text ${at}`)))
  assert.equal(new Set(names).size, 25)
  assert.equal(names[0], "_output_3")
  assert.equal(await cellValue(runtime, "_output_1 + _output_2 + _output_3"), "minehosttext 0")
  assert.equal(await runtime.keep("gone", 1), "gone_2")
  await runtime.reset()
  assert.equal(await runtime.keep("_output", "after"), "_output_28")
  await assert.rejects(runtime.keep("no good", 1), ConfigError)
})

test("changes tell what the cell created, reassigned and removed, not what the host did meanwhile", async () => {
  const runtime: Runtime = jsRuntime({
    count: 1,
    list: [] as number[],
    host: async () => {
      await runtime.inject({ injected: 1 })
      await runtime.keep("_output", "text")
      await runtime.update({ list: [1] })
    },
  })
  const first = await runtime.execute("let a = 1; function f() {} ; count++; await host()")
  assert.deepEqual(first.changes, { created: ["f", "a"], reassigned: ["count"], removed: [] })
  const second = await runtime.execute("a = 2; list.push(1); delete globalThis.f")
  assert.deepEqual(second.changes, { created: [], reassigned: ["a"], removed: ["f"] })
  const third = await runtime.execute("a = 3; const b = 1; throw new Error('half-way')")
  assert.deepEqual(third.changes, { created: ["b"], reassigned: ["a"], removed: [] })
})

test("names tells kind, type, size and origin", async () => {
  const runtime = jsRuntime({ list: [1, 2], add: (a: number) => a, Light })
  await cellValue(runtime, "const text = 'abc'; const map = new Map([['a', 1]]); class Mine {}; const f = () => 1")
  const names = Object.fromEntries((await runtime.names()).map(({ name, ...about }) => [name, about]))
  assert.deepEqual(names.list, { kind: "variable", type: "number[]", size: 2, injected: true })
  assert.deepEqual(names.text, { kind: "variable", type: "string", size: 3, injected: false })
  assert.equal(names.map?.size, 1)
  assert.equal(names.add?.kind, "function")
  assert.deepEqual([names.Light?.kind, names.Mine?.kind, names.f?.kind], ["type", "type", "function"])
})

test("describe declares what was injected, or the names asked for", async () => {
  const runtime = jsRuntime({
    light: new Light(),
    addTask: fn((name: string) => name, { signature: "(name: string) => string" }),
  })
  await cellValue(runtime, "const mine = 1")
  const text = await runtime.describe()
  assert.match(text, /declare function addTask\(name: string\): Promise<string>/)
  assert.match(text, /light: Light/)
  assert.doesNotMatch(text, /mine/)
  const some = await runtime.describe(["mine"])
  assert.match(some, /mine: number/)
  assert.doesNotMatch(some, /addTask/)
  await assert.rejects(runtime.describe(["nobody"]), /no "nobody"/)
})

test("what is described is what is there now", async () => {
  const runtime = jsRuntime({ data: variable(null, "The data"), add: (a: number) => a, gone: 1 })
  await cellValue(runtime, "data = [1, 2]; const add = 'text'; delete globalThis.gone")
  const text = await runtime.describe()
  assert.match(text, /The data/)
  assert.match(text, /data: number\[\]/)
  assert.match(text, /add: string/)
  assert.doesNotMatch(text, /gone/)
  assert.equal((await runtime.names()).find(({ name }) => name === "add")?.kind, "variable")
})

test("reset empties the namespace and binds again what was injected, as last updated", async () => {
  const runtime = jsRuntime({ count: 1, list: [1], add: (a: number) => a + 1 })
  await runtime.inject({ more: "yes" })
  await runtime.update({ list: [2] })
  await cellValue(runtime, "count = 99; const mine = 1; const add = null; delete globalThis.more")
  await runtime.reset()
  assert.deepEqual(await cellValue(runtime, "[count, list, more, typeof mine, await add(1)]"), [
    1,
    [2],
    "yes",
    "undefined",
    2,
  ])
})

test("reset waits for its turn, and an update that comes meanwhile wins", async () => {
  const gate = Promise.withResolvers<void>()
  const runtime = jsRuntime({ count: 1, wait: () => gate.promise })
  const cell = runtime.execute("const mine = 1; await wait(); mine")
  const reset = runtime.reset()
  await runtime.update({ count: 2 })
  gate.resolve()
  const execution = await cell
  assert.ok(execution.ok && execution.value === 1)
  await reset
  assert.deepEqual(await cellValue(runtime, "[count, typeof mine]"), [2, "undefined"])
})

test("what is left of earlier cells does not reach the names after a reset", async () => {
  const gate = Promise.withResolvers<void>()
  const runtime = jsRuntime({ gate: { open: gate.promise }, host: { ignore: () => {} }, seen: [] as string[] })
  await cellValue(
    runtime,
    "let x = 'old'; const left = (async () => { await gate.open; x = 'haunted'; seen.push(x) })(); left.catch(host.ignore); 0",
  )
  await runtime.reset()
  await cellValue(runtime, "let x = 'new'")
  gate.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await retrieveAny(runtime, "x"), "new")
  assert.deepEqual(await runtime.retrieve("seen"), [])
})

test("a cell cannot reset its own runtime", async () => {
  const runtime: Runtime = jsRuntime({ reset: () => runtime.reset() })
  assert.match(errorOf(await runtime.execute("await reset()")).message, /ConfigError: reset\(\) would take the names/)
})

test("close is for good, twice is fine, and later use says so", async () => {
  const runtime = jsRuntime({ a: 1 })
  await runtime.close()
  await runtime.close()
  const uses = [
    runtime.execute("1"),
    runtime.inject({ b: 1 }),
    runtime.update({ a: 2 }),
    runtime.retrieve("a"),
    runtime.names(),
    runtime.describe(),
    runtime.keep("x", 1),
    runtime.reset(),
  ]
  for (const use of uses) {
    await assert.rejects(use, (error: unknown) => {
      assert.ok(error instanceof AgentError)
      assert.equal(error.code, "closed")
      assert.match(error.message, /this jsRuntime is closed/)
      return true
    })
  }
})

test("close aborts the running cell and refuses those that wait", async () => {
  const runtime = jsRuntime()
  const stuck = runtime.execute("await new Promise(() => {})")
  const refused = assert.rejects(runtime.execute("1"), /closed/)
  await runtime.close()
  assert.equal(errorOf(await stuck).kind, "aborted")
  await refused
})

test("await using closes a runtime", async () => {
  let kept: Runtime | undefined
  {
    await using runtime = jsRuntime()
    kept = runtime
  }
  await assert.rejects(kept.execute("1"), /closed/)
})

test("cells of one runtime take turns in the order they came", async () => {
  const runtime = jsRuntime({ story: [] as string[] })
  const cell = (name: string) =>
    runtime.execute(`story.push("${name} in"); await new Promise((go) => setTimeout(go, 1)); story.push("${name} out")`)
  await Promise.all([cell("a"), cell("b"), cell("c")])
  assert.deepEqual(await runtime.retrieve("story"), ["a in", "a out", "b in", "b out", "c in", "c out"])
})

test("different runtimes run together", async () => {
  const [there, back] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const one = jsRuntime({ send: (text: string) => there.resolve(text), receive: () => back.promise })
  const two = jsRuntime({ send: (text: string) => back.resolve(text), receive: () => there.promise })
  const [a, b] = await Promise.all([
    one.execute("await send('ping'); await receive()"),
    two.execute("const heard = await receive(); await send(heard + ' pong'); heard"),
  ])
  assert.ok(a.ok && b.ok)
  assert.deepEqual([a.value, b.value], ["ping pong", "ping"])
})

test("a cell started from within a running cell is let in, also through another runtime", async () => {
  const inner: Runtime = jsRuntime({ back: (code: string) => outer.execute(code) })
  const outer: Runtime = jsRuntime({
    nested: (code: string) => outer.execute(code),
    around: (code: string) => inner.execute(`(await back(${JSON.stringify(code)})).value`),
  })
  assert.equal(await cellValue(outer, "let x = 1; await nested('x = 2; const fromInside = 5'); x + fromInside"), 7)
  assert.equal(await cellValue(outer, "(await around('x = 10; x')).value + x"), 20)
})

test("a leftover of a nested cell is let in while the outer cell runs", async () => {
  const runtime: Runtime = jsRuntime({ run: (code: string) => runtime.execute(code) })
  const code =
    "await run('const left = new Promise((go) => setTimeout(() => go(run(`40 + 2`)), 1)); 0'); (await left).value"
  assert.equal(await cellValue(runtime, code), 42)
})

test("a cell that a leftover starts is let in, as the cell under way may wait for it", async () => {
  const gate = Promise.withResolvers<void>()
  const runtime: Runtime = jsRuntime({
    self: { run: async (code: string) => cellValue(runtime, code), reset: () => runtime.reset(), open: gate.promise },
    go: () => gate.resolve(),
  })
  await cellValue(runtime, "const job = (async () => { await self.open; return self.run('42') })()")
  assert.equal(await cellValue(runtime, "go(); await job"), 42)
  const again = Promise.withResolvers<void>()
  await runtime.inject({ later: { open: again.promise } })
  await cellValue(runtime, "const wipe = (async () => { await later.open; await self.reset() })()")
  await runtime.inject({ release: () => again.resolve() })
  const error = errorOf(await runtime.execute("release(); await wipe"))
  assert.match(error.message, /under the cell/)
})

test("a cell that a leftover starts while no other is under way takes a turn like any other", async () => {
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const runtime: Runtime = jsRuntime({
    later: variable(() =>
      setImmediate(() => {
        void runtime.execute("order.push('in'); await wait(); order.push('out')")
        started.resolve()
      }),
    ),
    wait: () => gate.promise,
    order: [] as string[],
  })
  await cellValue(runtime, "later(); 0")
  await started.promise
  const next = runtime.execute("order.push('next')")
  gate.resolve()
  await next
  assert.deepEqual(await runtime.retrieve("order"), ["in", "out", "next"])
})

test("rules are checked before anything runs", async () => {
  const runtime = jsRuntime({ touched: [] as number[] }, { rules: [functionRule("eval")] })
  const error = errorOf(await runtime.execute("touched.push(1)\neval('1')"))
  assert.equal(error.kind, "security")
  assert.equal(error.line, 2)
  assert.match(error.message, /eval/)
  assert.deepEqual(await runtime.retrieve("touched"), [])
  const broken: Rule = {
    name: "broken",
    check() {
      throw new Error("oops")
    },
  }
  assert.equal(errorOf(await jsRuntime({}, { rules: [broken] }).execute("1")).kind, "security")
})

test("import finds built-ins, files and packages from cwd", async (context) => {
  const cwd = await mkdtemp(join(tmpdir(), "karst-js-"))
  context.after(() => rm(cwd, { recursive: true }))
  await writeFile(join(cwd, "helper.ts"), "export const double = (x: number): number => x * 2\nexport default 'helper'")
  await writeFile(join(cwd, "data.json"), '{ "a": 1 }')
  const runtime = jsRuntime({}, { cwd })
  assert.equal(await cellValue(runtime, "import { basename } from 'node:path'\nbasename('/a/b.txt')"), "b.txt")
  assert.equal(await cellValue(runtime, "import name, { double } from './helper.ts'\ndouble(4) + name"), "8helper")
  assert.equal(
    await cellValue(
      runtime,
      "const { default: data } = await import('./data.json', { with: { type: 'json' } }); data.a",
    ),
    1,
  )
  assert.match(errorOf(await runtime.execute("import x from 'no-such-package'")).message, /no-such-package/)
  const project = jsRuntime()
  assert.equal(await cellValue(project, "import { z } from 'zod'\nz.string().parse('x')"), "x")
})

test("a package that host and cell both import is one and the same", async () => {
  const { z } = await import("zod")
  const runtime = jsRuntime({ schema: z.string() })
  assert.equal(await cellValue(runtime, "import { z } from 'zod'\nschema instanceof z.ZodString"), true)
})

test("a fork, and a fork of it, checks options and states what cells may use as the first runtime does", async () => {
  await using runtime = jsRuntime({ a: 1 }, { rules: safeRules() })
  await using fork = await runtime.fork()
  await using second = await fork.fork()
  for (const each of [runtime, fork, second]) {
    assert.deepEqual(each.access, runtime.access)
    // @ts-expect-error: the option is mistyped.
    await assert.rejects(each.execute("a", { timeoutMS: 1 }), { name: "ConfigError", message: /timeoutMs/ })
    // @ts-expect-error: there are no options.
    await assert.rejects(each.inject({ b: 2 }, { replace: true }), { name: "ConfigError", message: /no options/ })
  }
})
