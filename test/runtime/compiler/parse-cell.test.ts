import assert from "node:assert/strict"
import { describe, test } from "node:test"
import {
  type AnyNode,
  CellSyntaxError,
  eachChild,
  isTypeOnly,
  parseCell,
  walk,
} from "../../../src/runtime/compiler/parse-cell.ts"

function typesOf(code: string, options?: { types?: boolean }): string[] {
  const found: string[] = []
  walk(parseCell(code).program, (node) => found.push(node.type), options)
  return found
}

describe("parseCell", () => {
  test("gives the code and its tree", () => {
    const { code, program } = parseCell("let a: number = 1\na")
    assert.equal(code, "let a: number = 1\na")
    assert.deepEqual(
      program.body.map((node) => node.type),
      ["VariableDeclaration", "ExpressionStatement"],
    )
  })

  for (const object of [
    "{ a: 1 }",
    "{ total: n, n, r }",
    "{ a: 1, b: 2 }",
    '{ "a": 1 }',
    "{ ...row, b: 2 };",
    "{ n, r }",
    "{ n }",
  ]) {
    test(`explains that ${object} at the start of a line is a block`, () => {
      const code = `const n = 1, r = 2, row = {}\n${object}\n`
      assert.throws(
        () => parseCell(code),
        (error) => error instanceof CellSyntaxError && error.line === 2 && error.message.includes("({ … })"),
      )
    })
  }

  for (const block of [
    "{ const a = 1; use(a) }",
    "{ a() }",
    "x: for (;;) { break x }",
    "{ x: for (;;) break x }",
    "{ a: n; }",
    "{}",
  ]) {
    test(`takes ${block} as a block`, () => {
      assert.doesNotThrow(() => parseCell(`const n = 1\n${block}\n`))
    })
  }

  test("does not blame an object for another mistake", () => {
    assert.throws(() => parseCell("const a = {\n  b: 1,,\n}\n"), /Unexpected token ,/)
    assert.throws(
      () => parseCell("{ a: 1, b: 2 }\nconst = 1"),
      (error) => error instanceof CellSyntaxError,
    )
  })

  const lone = "export const once = <const T,>(x: T) => ({ x })\nouter: for (;;) break outer"

  test("reads each cell as if it were the first, whatever came before", () => {
    const first = JSON.stringify(parseCell(lone).program)
    const before = [
      lone,
      "const once = 1; class A { #b = 1; c() { return this.#b } }",
      "#!/usr/bin/env node\n`${1}`",
      "@a class B {}",
    ]
    for (const code of before) {
      parseCell(code)
      assert.equal(JSON.stringify(parseCell(lone).program), first)
    }
    for (const code of ["(a, b", "class A { #x; #x }", "`${", "{ let a; let a }", "outer: for (;;) { (x: "]) {
      assert.throws(() => parseCell(code), CellSyntaxError)
      assert.equal(JSON.stringify(parseCell(lone).program), first)
    }
  })

  const accepted = [
    "await 1; for await (const x of y) {}",
    "import a, { type B } from 'c'; export { a }; export { notDeclaredHere }",
    "declare const x: number; const x = 1",
    "interface A {} interface A {} class A {}",
    "enum E { A } enum E { B } namespace E { export const c = 1 }",
    "function f(a: string): void; function f(a: number): void; function f(a: any) {}",
    "interface A { m<const T>(x: T): T }",
    "type F = <const T>(x: T) => T",
    "class A { override x = 1 }",
    "let assert = 1, asserts = 2, global = 3, keyof = 4, unique = 5, accessor = 6, out = 7, infer = 8",
    "a ? (b) : c => d",
    "a ? (b) : (c): d => e",
    "a ? (b) => (c) : d => e",
    "a ? b ? (c) : (d) => e : f => g",
    "a ? (b) => (c) : (d) => (e)",
    "a ? ((b) => (c)) : d",
    "a ? async (b) => (c) : d => e",
    "a ? (b): c => (d) : e",
    "a ? (b) => { (c) } : d => e",
    "a ? { b: (c): d => e } : f",
    "a ? [(c): d => e] : f",
    "a ? g((c): d => e) : f",
    "a ? function () { return (b): c => d } : e",
    "(a ? (b) : c, d)",
    "x = a ? (b, c) : d",
    "delete x",
    "",
    "#!/usr/bin/env node\n1",
  ]
  for (const code of accepted) {
    test(`accepts ${JSON.stringify(code)}`, () => {
      parseCell(code)
    })
  }

  test("says which token was not expected, or that the cell ends too early", () => {
    assert.throws(() => parseCell("let x = => 1"), { message: "Unexpected token =>" })
    assert.throws(() => parseCell("foo(bar"), { message: "Unexpected end of the cell" })
    assert.throws(() => parseCell("{"), { message: "Unexpected end of the cell" })
  })

  test("refuses code that is nested too deeply, as an error of the code", () => {
    for (const code of ["[".repeat(20_000), `1${"+1".repeat(20_000)}`]) {
      assert.throws(
        () => parseCell(code),
        (error) => error instanceof CellSyntaxError && /nested too deeply/.test(error.message),
      )
    }
  })

  test("reads lines of slashes and long comments before the first token once", () => {
    for (const comments of ["/".repeat(46), `${"/".repeat(80)}\n`.repeat(1200), "/* a */\n// b\n".repeat(7000)]) {
      assert.equal(parseCell(`${comments}\n{ a: 1, b: 2 }`).program.body[0]?.type, "ExpressionStatement")
      assert.equal(parseCell(comments).program.body.length, 0)
    }
  })

  test("refuses code that has too many readings, as an error of the code", () => {
    for (const code of ["a?(", "a<b>(", "async<T>("].map((piece) => piece.repeat(60))) {
      assert.throws(
        () => parseCell(code),
        (error) => error instanceof CellSyntaxError,
      )
    }
  })

  test("reads words as the TypeScript parser it extends does", () => {
    for (const word of ["type", "interface", "of", "at", "jsxName", "constructor", "toString", "enum", "yield_"]) {
      assert.doesNotThrow(() => parseCell(`const o = { ${word}: 1 }; o.${word}`), word)
    }
  })
})

describe("walk", () => {
  test("visits parents before children, in the order of the source", () => {
    const found: string[] = []
    walk(parseCell("f(a, `x${b}y`, { c: d })").program, (node) => {
      if (node.type === "Identifier") found.push(node.name)
    })
    assert.deepEqual(found, ["f", "a", "b", "c", "d"])
  })

  test("gives the parent", () => {
    const parents: (string | undefined)[] = []
    walk(parseCell("a + b").program, (_, parent) => parents.push(parent?.type))
    assert.deepEqual(parents, [undefined, "Program", "ExpressionStatement", "BinaryExpression", "BinaryExpression"])
  })

  test("does not go below a node where the visitor returns false", () => {
    const found: string[] = []
    walk(parseCell("f(() => g()); h()").program, (node) => {
      if (node.type === "Identifier") found.push(node.name)
      return node.type !== "ArrowFunctionExpression"
    })
    assert.deepEqual(found, ["f", "h"])
  })

  test("leaves out what is only type when asked to", () => {
    const code =
      "interface A { b: C } type D = A; declare let e: A; import type { F } from 'f'; let g: A = h as D; class I implements A { declare j: A; k?: A }"
    assert.equal(
      typesOf(code, { types: false }).some((type) => /TSType|TSInterface|TSExpressionWith|ImportDecl/.test(type)),
      false,
    )
    assert.ok(typesOf(code).includes("TSInterfaceDeclaration"))
  })

  test("keeps the values inside TypeScript syntax", () => {
    const code =
      "enum E { A = one } namespace N { export const b = two } x = <T>three!; class C { constructor(private d = four) {} }"
    const names: string[] = []
    walk(parseCell(code).program, (node) => void (node.type === "Identifier" && names.push(node.name)), {
      types: false,
    })
    for (const name of ["one", "two", "three", "four"]) assert.ok(names.includes(name), name)
    assert.equal(names.includes("T"), false)
  })
})

test("eachChild gives the direct children, without types", () => {
  const [statement] = parseCell("const a: T = f<U>(b)").program.body
  const children: string[] = []
  const collect = (node: AnyNode) => {
    children.push(node.type)
    eachChild(node, collect)
  }
  if (statement) collect(statement)
  assert.deepEqual(children, [
    "VariableDeclaration",
    "VariableDeclarator",
    "Identifier",
    "CallExpression",
    "Identifier",
    "Identifier",
  ])
})

test("isTypeOnly tells what is gone when the program runs", () => {
  const only = [
    "interface A {}",
    "type A = 1",
    "declare const a: 1",
    "declare class A {}",
    "declare namespace A {}",
    "import type A from 'a'",
    "export type { A }",
    "declare enum A {}",
  ]
  const not = ["enum A {}", "namespace A { a }", "class A {}", "import A from 'a'", "let a: 1", "import a = b.c"]
  assert.deepEqual(
    [...only, ...not].map((code) => parseCell(code).program.body.every((node) => isTypeOnly(node))),
    [...only.map(() => true), ...not.map(() => false)],
  )
})
