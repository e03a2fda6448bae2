import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { describe, test } from "node:test"
import { evaluate, repl } from "./compiler-repl.ts"

describe("what a cell declares", () => {
  test("let, const, var, class and function persist in later cells", async () => {
    const cells = [
      "let a = 1; const b = 2; var c = 3; class D { e = 4 } function f() { return 5 }",
      "[a, b, c, new D().e, f()]",
    ]
    assert.deepEqual(await evaluate(...cells), [1, 2, 3, 4, 5])
  })

  test("a name may be declared again in a later cell, with any keyword", async () => {
    const value = await evaluate(
      "const x = 1",
      "let x = 2",
      "var x = 3",
      "class x {}",
      "function x() {}",
      "const x = 6",
      "x",
    )
    assert.equal(value, 6)
  })

  test("a name declared without a value is undefined, also when it had one before", async () => {
    assert.equal(await evaluate("let x = 1", "let x", "x"), undefined)
  })

  test("a var without a value keeps the one it has", async () => {
    assert.equal(await evaluate("var x = 1", "var x", "x"), 1)
  })

  test("a cell that failed half-way leaves what it had declared, and the rest can be declared again", async () => {
    const { run } = repl()
    await assert.rejects(run("const a = 1\nconst b = (() => { throw new Error('no') })()\nconst c = 3"), /no/)
    assert.equal(await run("a"), 1)
    await assert.rejects(run("b"), { name: "ReferenceError", message: "b is not defined" })
    assert.equal(await run("const b = 2; const a = 10; a + b"), 12)
  })

  test("closures see later redefinitions", async () => {
    const cells = ["const rate = 1; function price() { return rate * 10 }", "const rate = 2", "price()"]
    assert.equal(await evaluate(...cells), 20)
  })

  test("closures see later redefinitions of the functions they call", async () => {
    assert.equal(
      await evaluate("const inner = () => 1; const outer = () => inner()", "const inner = () => 2", "outer()"),
      2,
    )
  })

  test("functions are hoisted, also where they call each other", async () => {
    const code =
      "const value = even(10)\nfunction even(n) { return n === 0 || odd(n - 1) }\nfunction odd(n) { return n !== 0 && even(n - 1) }\nvalue"
    assert.equal(await evaluate(code), true)
  })

  test("async, generator and async generator functions are hoisted too", async () => {
    const functions = "async function a() { return 1 } function* g() { yield 2 } async function* ag() { yield 3 }"
    const code = `const all = [await a(), [...g()], (await ag().next()).value]\n${functions}\nall`
    assert.deepEqual(await evaluate(code), [1, [2], 3])
  })

  test("a function inside a block stays there", async () => {
    await assert.rejects(evaluate("{ function hidden() {} }", "hidden"), /hidden is not defined/)
  })

  test("var in blocks, loops and conditions belongs to the cell", async () => {
    const code =
      "if (true) { var a = 1 }\nfor (var i = 0; i < 3; i++) { var b = i }\nfor (var [k, v] of [[1, 2]]) ;\nfor (var key in { z: 1 }) ;\ntry { throw 1 } catch { var c = 9 }"
    assert.deepEqual(await evaluate(code, "[a, i, b, k, v, key, c]"), [1, 3, 2, 1, 2, "z", 9])
  })

  test("var is undefined before its line, and so is one that is never reached", async () => {
    assert.deepEqual(await evaluate("const before = x; var x = 1; if (false) { var y = 1 }", "[before, y]"), [
      undefined,
      undefined,
    ])
  })

  test("let and const of a block or a loop stay there", async () => {
    await assert.rejects(
      evaluate("for (let i = 0; i < 1; i++) { const inside = i }", "typeof i + typeof inside", "i"),
      /i is not defined/,
    )
  })

  test("each turn of a loop has its own let", async () => {
    assert.deepEqual(
      await evaluate("const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); fs.map((f) => f())"),
      [0, 1, 2],
    )
  })

  test("destructuring declares every name, nested, with defaults and rests", async () => {
    const code =
      "const { a, b: { c = 2, ...d }, ['e' + 1]: e } = { a: 1, b: { x: 3, y: 4 }, e1: 5 }, [f, , g = 7, ...[h]] = [6, 0, undefined, 8]"
    assert.deepEqual(await evaluate(code, "[a, c, d, e, f, g, h]"), [1, 2, { x: 3, y: 4 }, 5, 6, 7, 8])
  })

  test("one declaration may mix plain names and patterns", async () => {
    assert.deepEqual(await evaluate("let a = 1, { b } = { b: a + 1 }, c, [d] = [b + 1]", "[a, b, c, d]"), [
      1,
      2,
      undefined,
      3,
    ])
  })

  test("a statement before a destructuring declaration needs no semicolon", async () => {
    assert.deepEqual(
      await evaluate("const f = () => 1\nconst { a } = { a: 2 }\nconst [b] = [3]\n;[f(), a, b]"),
      [1, 2, 3],
    )
  })

  test("until its declaration runs, a redeclared name has the value of the earlier cell", async () => {
    assert.deepEqual(await evaluate("let data = [1, 2, 3]", "let data = data.filter((n) => n > 1)", "data"), [2, 3])
  })

  test("a class can use its own name inside and be extended later", async () => {
    const cells = [
      "class A { static make() { return new A() } kind() { return 'a' } }",
      "class B extends A { kind() { return 'b' + super.kind() } }",
    ]
    assert.deepEqual(await evaluate(...cells, "[A.make() instanceof A, new B().kind(), B.name]"), [true, "ba", "B"])
  })

  test("anonymous functions and classes are named after their variable", async () => {
    const code =
      "const f = () => {}; let g = function () {}, h = async () => {}, K = class {}; const p = (() => {}), { d = () => {} } = {}; late = () => {}"
    assert.deepEqual(await evaluate(code, "[f, g, h, K, p, d, late].map((x) => x.name)"), [
      "f",
      "g",
      "h",
      "K",
      "p",
      "d",
      "late",
    ])
  })

  test("functions that have a name keep it", async () => {
    assert.deepEqual(
      await evaluate("const f = function own() {}; const g = f; const K = class Own {}; [f.name, g.name, K.name]"),
      ["own", "own", "Own"],
    )
  })

  test("the names a cell declares and its constants are listed", () => {
    const code =
      "const a = 1; let b; var c; function d() {} class E {} enum F { X } import g from 'g'; using h = null; { let no }"
    const { declares, constants } = repl().compile(code)
    assert.deepEqual([...declares].sort(), ["E", "F", "a", "b", "c", "d", "g", "h"])
    assert.deepEqual([...constants].sort(), ["a", "g", "h"])
  })

  test("a resource declared with using is disposed of when the cell ends, and keeps its name", async () => {
    const code =
      "const log = []; using a = { id: 1, [Symbol.dispose]() { log.push('a') } }, b = { of: a.id, [Symbol.dispose]() { log.push('b') } }; log.push('body')"
    assert.deepEqual(await evaluate(code, "[log, a.id, b.of]"), [["body", "b", "a"], 1, 1])
  })

  test("await using waits for the disposal before the cell ends", async () => {
    const code = "let done = false; await using r = { async [Symbol.asyncDispose]() { await null; done = true } }"
    assert.equal(await evaluate(code, "done"), true)
  })

  test("a name may be anything JavaScript allows", async () => {
    assert.deepEqual(
      await evaluate(
        "const $ = 1, _ = 2, ünï = 3, \\u0061bc = 4, of = 5, async = 6, type = 7",
        "[$, _, ünï, abc, of, async, type]",
      ),
      [1, 2, 3, 4, 5, 6, 7],
    )
  })
})

describe("constants", () => {
  for (const change of [
    "x = 2",
    "x += 1",
    "x++",
    "--x",
    "[x] = [2]",
    "({ x } = { x: 2 })",
    "({ y: x = 1 } = {})",
    "for (x of [1]) ;",
    "x &&= 2",
  ]) {
    test(`${change} throws where x is a const, in the same cell and in a later one`, async () => {
      const expected = { name: "TypeError", message: "Assignment to constant variable." }
      await assert.rejects(evaluate(`const x = 1; ${change}`), expected)
      await assert.rejects(evaluate("const x = 1", change), expected)
      await assert.rejects(evaluate("const x = 1", `(() => { ${change} })()`), expected)
    })
  }

  test("a logical assignment that does not assign leaves a const alone", async () => {
    assert.equal(await evaluate("const x = 1", "x ??= 2; x"), 1)
  })

  test("the right side is evaluated before the assignment fails", async () => {
    const { run } = repl()
    await assert.rejects(run("const x = 1; let seen = 0", "x = seen = 5"), TypeError)
    assert.equal(await run("seen"), 5)
  })

  test("a const declared again with let can be assigned", async () => {
    assert.equal(await evaluate("const x = 1", "let x = 2", "x = 3", "x"), 3)
  })

  test("a local variable of the same name is not a constant", async () => {
    assert.equal(await evaluate("const x = 1", "(() => { let x = 2; x = 3; return x })()"), 3)
  })
})

describe("the value of a cell", () => {
  const valued: [string, unknown][] = [
    ["1 + 1", 2],
    ["1; 2;", 2],
    ["5 ;;; // done\n/* really */", 5],
    ["'use strict'", "use strict"],
    ["(1, 2)", 2],
    ["[1, 2]\n  .map((x) => x * 2)\n  .join()", "2,4"],
    ["await Promise.resolve(7)", 7],
    ["Promise.resolve(8)", 8],
    ["x = 9", 9],
    ["({ a: 1 }).a", 1],
    ["`a${1}`", "a1"],
    ["42\ninterface Later {}", 42],
    ["export default 43", 43],
  ]
  for (const [code, value] of valued) {
    test(`${JSON.stringify(code)} has the value ${JSON.stringify(value)}`, async () => {
      const { compile, run } = repl()
      assert.equal(compile(code).hasValue, true)
      assert.equal(await run(code), value)
    })
  }

  for (const code of [
    "",
    "// nothing",
    "const x = 1",
    "if (true) { 1 }",
    "{ 1 }",
    "function f() {}",
    "1; let y",
    "for (;;) break",
    "type T = 1",
  ]) {
    test(`${JSON.stringify(code)} has no value`, async () => {
      const { compile, run } = repl()
      assert.equal(compile(code).hasValue, false)
      assert.equal(await run(code), undefined)
    })
  }

  test("an expression that is undefined is a value", () => {
    assert.equal(repl().compile("undefined").hasValue, true)
  })
})

describe("a cell in braces", () => {
  test("is an object where it would do nothing as a block", async () => {
    for (const [code, value] of [
      ["{ a: 1 }", { a: 1 }],
      ["// the result\n{ a, b }\n", { a: 1, b: 2 }],
      ["{ a: 1, b: [a, b], c() { return 3 } }.b", [1, 2]],
      ["{ ...{ a } }", { a: 1 }],
      ['{ "a": 1 }', { a: 1 }],
    ] as const) {
      assert.deepEqual(await evaluate("const a = 1, b = 2", code), value, code)
    }
  })

  test("is a block where that means something", async () => {
    const { run } = repl()
    assert.equal(
      await run("let n = 0", "{ n++ }", "{ n++; n }", "{ a: n++; }", "{ const m = n; n = m + 1 }"),
      undefined,
    )
    assert.equal(await run("n"), 4)
    await assert.rejects(run("{ a: 1, }, b }"), { line: 1, message: /Unexpected token/ })
  })
})

test("static may stand on a line of its own, while the modifiers of TypeScript are then names", async () => {
  assert.deepEqual(await evaluate("class A {\n  static\n  w = 4\n}\n[A.w, Object.keys(new A())]"), [4, []])
  assert.deepEqual(await evaluate("class A {\n  private\n  x = 1\n}\nObject.keys(new A())"), ["private", "x"])
})

test("a name that is called __proto__ is a property like any other in a short form", async () => {
  const value = await evaluate(
    "const __proto__ = { own: 1 }; const made = { __proto__ }; [Object.keys(made), made.own]",
  )
  assert.deepEqual(value, [["__proto__"], undefined])
})

test("cells run where a program forbids its strings to become code", () => {
  const runtime = new URL("../../../src/runtime/js.ts", import.meta.url).href
  const program = `import { jsRuntime } from ${JSON.stringify(runtime)}
    const { ok, value } = await jsRuntime().execute("const a = 20; a + 1")
    console.log(ok, value)`
  const args = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", program]
  assert.equal(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout, "true 21\n")
})
