import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { CellSyntaxError } from "../../../src/runtime/compiler/parse-cell.ts"
import { evaluate, repl } from "./compiler-repl.ts"
import { typescriptPairs } from "./typescript-pairs.ts"

const AsyncFunction = (async () => {}).constructor as new (code: string) => () => Promise<unknown>

describe("removing types keeps the meaning", () => {
  for (const [typescript, javascript] of typescriptPairs) {
    test(`${JSON.stringify(typescript)} means ${JSON.stringify(javascript)}`, async () => {
      const expected = await new AsyncFunction(`"use strict"; ${javascript}`)()
      assert.deepEqual(await evaluate(typescript), expected)
    })
  }
})

describe("enums", () => {
  test("a numeric enum counts up and maps back", async () => {
    assert.deepEqual(await evaluate("enum E { A, B, C = 10, D }", "({ ...E })"), {
      0: "A",
      1: "B",
      10: "C",
      11: "D",
      A: 0,
      B: 1,
      C: 10,
      D: 11,
    })
  })

  test("a string enum does not map back", async () => {
    assert.deepEqual(await evaluate("enum E { A = 'a', B = `b`, 'C-D' = \"c\" }", "({ ...E })"), {
      A: "a",
      B: "b",
      "C-D": "c",
    })
  })

  test("members are computed from each other and from other names", async () => {
    assert.deepEqual(
      await evaluate(
        "const base = 4",
        "enum E { A = 1 << 1, B = A | 1, C = E.B + base, D = 'abc'.length, F = (B) }",
        "[E.A, E.B, E.C, E.D, E.F]",
      ),
      [2, 3, 7, 3, 3],
    )
  })

  test("two declarations in a cell are one enum, a later cell starts anew", async () => {
    assert.deepEqual(await evaluate("enum E { A = 1 } enum E { B = A + 1 }", "({ ...E })"), {
      1: "A",
      2: "B",
      A: 1,
      B: 2,
    })
    assert.deepEqual(await evaluate("enum E { A = 1 }", "enum E { B = 2 }", "({ ...E })"), { 2: "B", B: 2 })
  })

  test("a const enum is an object too", async () => {
    assert.equal(await evaluate("const enum E { A = 3 }", "E.A"), 3)
  })

  test("an enum inside a function is local", async () => {
    assert.deepEqual(
      await evaluate("function f() { enum E { A = 1 } enum E { B = 2 } return E.A + E.B }", "[f(), typeof E]"),
      [3, "undefined"],
    )
  })

  test("an enum may span lines and have comments and a trailing comma", async () => {
    assert.equal(await evaluate("enum E { // first\n  A, /* = 9, */\n  B, // last\n}\nE.B"), 1)
  })

  test("a declared enum is only a type", async () => {
    await assert.rejects(evaluate("declare enum E { A }", "E"), /E is not defined/)
  })
})

describe("namespaces", () => {
  test("exported members are properties, the others are not", async () => {
    const code =
      "namespace N { const hidden = 1; export const a = hidden + 1; export let b; export function f() { return a + hidden } export class C { v = a } export enum E { X = 7 } b = 5 }"
    assert.deepEqual(await evaluate(code, "[N.a, N.b, N.f(), new N.C().v, N.E.X, N.hidden]"), [
      2,
      5,
      3,
      2,
      7,
      undefined,
    ])
  })

  test("members can be changed from outside and inside sees it", async () => {
    assert.equal(await evaluate("namespace N { export let n = 1; export const get = () => n }", "N.n = 2; N.get()"), 2)
  })

  test("namespaces nest, by dots and by blocks", async () => {
    assert.deepEqual(
      await evaluate(
        "namespace A.B { export const x = 1; export namespace C { export const y = x + 1 } namespace D { export const z = 3 } export const w = D.z }",
        "[A.B.x, A.B.C.y, A.B.w, A.B.D]",
      ),
      [1, 2, 3, undefined],
    )
  })

  test("two blocks in a cell are one namespace and see each other's exports", async () => {
    assert.deepEqual(
      await evaluate("namespace N { export const a = 1 }\nnamespace N { export const b = a + 1 }", "({ ...N })"),
      { a: 1, b: 2 },
    )
  })

  test("a namespace adds to the class, function or enum of its name", async () => {
    const code =
      "class C { v = C.x } namespace C { export const x = 1 }\nfunction f() { return f.x } namespace f { export const x = 2 }\nenum E { A } namespace E { export const name = () => E[0] }"
    assert.deepEqual(await evaluate(code, "[new C().v, f(), E.name()]"), [1, 2, "A"])
  })

  test("exports are destructured and functions hoisted", async () => {
    assert.deepEqual(
      await evaluate(
        "namespace N { export const first = f(); export function f() { return 1 } export const { a, b: [c] } = { a: 2, b: [3] } }",
        "[N.first, N.a, N.c]",
      ),
      [1, 2, 3],
    )
  })

  test("a namespace of types only does not exist", async () => {
    await assert.rejects(
      evaluate("namespace N { export interface I {} export type T = 1; namespace M { type U = 2 } }", "N"),
      /N is not defined/,
    )
  })

  test("import aliases work inside", async () => {
    assert.deepEqual(
      await evaluate(
        "namespace N { export const o = { p: 1 }; import q = o.p; export import r = N.o; export const s = q }",
        "[N.s, N.r, N.q]",
      ),
      [1, { p: 1 }, undefined],
    )
  })
})

describe("parameter properties", () => {
  test("they become fields, in order, before the body", async () => {
    const code =
      "class A { constructor(private a: number, public readonly b = 2, c = 3, protected d?: string) { this.sum = this.a + this.b + c } }"
    assert.deepEqual(await evaluate(code, "({ ...new A(1) })"), { a: 1, b: 2, d: undefined, sum: 6 })
  })

  test("in a derived class they come after super()", async () => {
    const code =
      "class A { constructor(public x: number) {} } class B extends A { constructor(public y: number) { const z = y * 2; super(z); this.seen = [this.x, this.y] } }"
    assert.deepEqual(await evaluate(code, "({ ...new B(2) })"), { x: 4, y: 2, seen: [4, 2] })
  })

  test("a derived class without a plain call of super() is refused", () => {
    assert.throws(
      () => repl().compile("class B extends A { constructor(public y) { if (y) super() } }"),
      /call super\(\) in a statement of its own/,
    )
  })
})

describe("what has no meaning in JavaScript is refused", () => {
  const refused = {
    "@logged class A {}": /Decorators are not supported/,
    "class A { @logged m() {} }": /Decorators are not supported/,
    "class A { @logged x = 1 }": /Decorators are not supported/,
    "class A { accessor x = 1 }": /accessor/,
    "return 1": /return is only allowed inside a function; end the cell with an expression/,
  }
  for (const [code, message] of Object.entries(refused)) {
    test(`${code} is refused`, () => {
      assert.throws(
        () => repl().compile(code),
        (error) => error instanceof CellSyntaxError && message.test(error.message),
      )
    })
  }
})
