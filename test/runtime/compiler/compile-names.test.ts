import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { CellSyntaxError } from "../../../src/runtime/compiler/parse-cell.ts"
import { evaluate, repl } from "./compiler-repl.ts"

describe("names a cell does not declare", () => {
  test("an unknown name is a ReferenceError when it is reached, not before", async () => {
    const { run } = repl()
    await assert.rejects(run("let reached = true; missing; reached = false"), {
      name: "ReferenceError",
      message: "missing is not defined",
    })
    assert.equal(await run("reached"), true)
  })

  test("typeof an unknown name is undefined", async () => {
    assert.deepEqual(await evaluate("[typeof missing, typeof (missing), typeof (missing as any)]"), [
      "undefined",
      "undefined",
      "undefined",
    ])
  })

  test("typeof a known name is its type, also of one declared further down", async () => {
    assert.deepEqual(
      await evaluate(
        "let x = 1",
        "const early = typeof later; const later = 1; [typeof x, typeof f, early]; function f() {}",
        "[typeof x, typeof f, early]",
      ),
      ["number", "function", "undefined"],
    )
  })

  test("assigning to an unknown name creates it", async () => {
    assert.deepEqual(
      await evaluate("made = 1; [one, { two }] = [2, { two: 3 }]; for (three of [4]) ;", "[made, one, two, three]"),
      [1, 2, 3, 4],
    )
  })

  test("changing an unknown name in place is a ReferenceError", async () => {
    await assert.rejects(evaluate("missing += 1"), /missing is not defined/)
    await assert.rejects(evaluate("missing++"), /missing is not defined/)
  })

  test("delete removes a name from the namespace", async () => {
    assert.deepEqual(
      await evaluate("let x = 1, y = 2", "const gone = delete x; [gone, typeof x, delete (y as any), typeof y]"),
      [true, "undefined", true, "undefined"],
    )
  })

  test("deleting a local variable is refused", () => {
    assert.throws(() => repl().compile("(x) => { delete x }"), { name: "SyntaxError", message: /local variable/ })
  })

  test("globals are there", async () => {
    assert.deepEqual(
      await evaluate(
        "[Math.max(1, 2), JSON.stringify([1]), Number('3'), new Map([[1, 2]]).size, undefined, isNaN(NaN)]",
      ),
      [2, "[1]", 3, 1, undefined, true],
    )
  })

  test("ambient names come before globals, and a cell's own names before both", async () => {
    const { run } = repl({ ambient: { console: "ambient console", Date: "ambient Date" } })
    assert.deepEqual(await run("[console, Date]"), ["ambient console", "ambient Date"])
    assert.deepEqual(await run("const console = 'mine'", "[console, Date]"), ["mine", "ambient Date"])
  })

  test("assigning to a global or ambient name changes it for the cells only", async () => {
    const ambient = { fetch: "ambient fetch" }
    const { run } = repl({ ambient })
    assert.deepEqual(
      await run(
        "const before = [fetch, typeof Buffer]; fetch = 'mine'; Buffer = 'mine too'",
        "[...before, fetch, Buffer]",
      ),
      ["ambient fetch", "function", "mine", "mine too"],
    )
    assert.equal(ambient.fetch, "ambient fetch")
    assert.equal(typeof Buffer, "function")
  })

  test("local variables, parameters and catch clauses hide the names of the namespace", async () => {
    const code =
      "let r = []; { const x = 2; r.push(x) } ((x) => r.push(x))(3); try { throw 4 } catch (x) { r.push(x) } for (const x of [5]) r.push(x); (function x() { r.push(typeof x) })(); r.push(x); r"
    assert.deepEqual(await evaluate("let x = 1", code), [2, 3, 4, 5, "function", 1])
  })

  test("default values of parameters do not see what the body declares", async () => {
    assert.deepEqual(
      await evaluate("let x = 'outer'", "function f(g = () => x) { var x = 'inner'; return [g(), x] }", "f()"),
      ["outer", "inner"],
    )
  })

  test("shorthand properties, computed keys, spreads and templates use the namespace", async () => {
    assert.deepEqual(
      await evaluate(
        "let a = 1, k = 'key', list = [2], o = { z: 3 }",
        "({ a, [k]: `${a}${k}`, list: [...list], ...o, k: 4 })",
      ),
      { a: 1, key: "1key", list: [2], z: 3, k: 4 },
    )
  })

  test("property names, labels and members are left alone", async () => {
    assert.deepEqual(
      await evaluate(
        "let a = 1, b = 2",
        "a: for (;;) { break a }\nclass C { a = b; b() { return this.a } }\n[({ a: b }).a, new C().b(), { b }?.b]",
      ),
      [2, 2, 2],
    )
  })

  test("every kind of assignment reaches the namespace", async () => {
    assert.deepEqual(
      await evaluate(
        "let a = 1, b = null, c = 1, d",
        "a += 2; b ??= 5; c **= 2; d = c++ + ++c; [a, , b] = [a, 0, b + 1]; ({ x: c, ...d } = { x: 9, y: 8 })",
        "[a, b, c, d]",
      ),
      [3, 6, 9, { y: 8 }],
    )
  })

  test("swapping through destructuring works", async () => {
    assert.deepEqual(await evaluate("let a = 1, b = 2", "[a, b] = [b, a]", "[a, b]"), [2, 1])
  })
})

describe("this and arguments", () => {
  test("this is undefined at the top of a cell, also inside its arrow functions", async () => {
    assert.deepEqual(await evaluate("[this, (() => this)()]"), [undefined, undefined])
  })

  test("a call passes no this, however the function is reached", async () => {
    const cells = [
      "function f() { return this }; const o = { f() { return this === o } }",
      "[f(), f?.(), f``, (f)(), (f as any)(), f!(), o.f()]",
    ]
    assert.deepEqual(await evaluate(...cells), [undefined, undefined, undefined, undefined, undefined, undefined, true])
  })

  test("an ambient function is called without this as well", async () => {
    const { run } = repl({
      ambient: {
        probe: function (this: unknown) {
          return this
        },
      },
    })
    assert.equal(await run("probe()"), undefined)
  })

  test("new works on names of the namespace, with and without arguments", async () => {
    assert.deepEqual(
      await evaluate(
        "class A { constructor(x = 0) { this.x = x } }",
        "[new A(1).x, new A().x, (new A).x, new (A as any)(2).x, new A instanceof A]",
      ),
      [1, 0, 0, 2, true],
    )
  })

  test("an optional call of nothing gives undefined", async () => {
    assert.equal(await evaluate("let f", "f?.(1)"), undefined)
  })

  test("arguments is what it should be in a function and unknown in a cell", async () => {
    assert.deepEqual(await evaluate("function f() { return [...arguments] }", "f(1, 2)"), [1, 2])
    await assert.rejects(evaluate("arguments"), /arguments is not defined/)
    await assert.rejects(evaluate("(() => arguments)()"), /arguments is not defined/)
  })
})

describe("names reserved for generated code", () => {
  for (const code of [
    "$$scope",
    "let $$guard = 1",
    "$$ambient.import",
    "$$cell.peek",
    "() => $$scope_1",
    "\\u0024$scope",
    "function f($$cell_0) {}",
  ]) {
    test(`${code} is refused`, () => {
      assert.throws(() => repl().compile(code), CellSyntaxError)
    })
  }

  test("other names with dollars are fine", async () => {
    assert.equal(await evaluate("const $$ = 1, $$other = 2; $$ + $$other"), 3)
  })
})
