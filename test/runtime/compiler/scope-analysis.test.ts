import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { analyseScope, type Reference } from "../../../src/runtime/compiler/scope-analysis.ts"

/** `name=kind`, or `name=free`, of each use of a name. */
function uses(code: string): string {
  const { references } = analyseScope(parseCell(code))
  return [...references.values()].map(({ name, declaration }) => `${name}=${declaration?.kind ?? "free"}`).join(" ")
}

function use(code: string, name: string): Reference {
  const found = [...analyseScope(parseCell(code)).references.values()].findLast((reference) => reference.name === name)
  assert.ok(found, `${name} is used in ${code}`)
  return found
}

function declared(code: string): string {
  const { cell } = analyseScope(parseCell(code))
  return [...(cell.names?.values() ?? [])].map(({ name, kind }) => `${name}:${kind}`).join(" ")
}

describe("what a cell declares", () => {
  const cases = {
    "let a; const b = 1; var c; using d = null; await using e = null": "a:let b:const c:var d:using e:await using",
    "function f() { var inside } class C { m() { let inside } }": "f:function C:class",
    "const { a, b: [c, ...d], ...e } = f, [g = 1] = h": "a:const c:const d:const e:const g:const",
    "if (x) { var a } for (var b of c) { var d } try { var e } catch (f) { var g }": "a:var b:var d:var e:var g:var",
    "{ let a; function b() {} class C {} } for (let d;;) {} switch (1) { case 1: let e }": "",
    "import a, { b as c, type D } from 'x'; import * as e from 'y'; import f = require('z'); import type g from 'g'":
      "a:import c:import e:import f:import",
    "enum A { B } namespace C { export let d; let e } namespace C {} enum A { F }": "A:enum C:namespace",
    "interface A {} type B = 1; declare let c: 1; declare function d(): void; declare class E {}": "",
    "export const a = 1; export default function b() {} export class C {}": "a:const b:function C:class",
  }
  for (const [code, expected] of Object.entries(cases)) {
    test(code, () => assert.equal(declared(code), expected))
  }
})

describe("what a name refers to", () => {
  const cases = {
    "a; let b; b": "a=free b=let",
    "(a, { b, c: [d] }, ...e) => [a, b, c, d, e]": "a=parameter b=parameter c=free d=parameter e=parameter",
    "function f(a = b) { var b; return b }": "b=free b=var",
    "function f() { return [f, arguments, () => arguments] } arguments":
      "f=function arguments=arguments arguments=arguments arguments=free",
    "const f = function g() { g }; g": "g=function g=free",
    "class A { m() { A } } A": "A=class A=class",
    "const A = class B { m() { B } }; B": "B=class B=free",
    "try {} catch ({ message }) { message } message": "message=catch message=free",
    "for (const a of b) { a } a": "b=free a=const a=free",
    "a: for (;;) { break a } x.a; ({ a: 1 })": "x=free",
    "({ a, [b]: c, d() {} })": "a=free b=free c=free",
    "let x: T = y as U; f<V>(z!)": "y=free f=free z=free",
    "let t: typeof value": "",
    "enum E { A = 1, B = A + E.A + c }": "A=enum member E=enum c=free",
    "namespace N { export const a = 1; const b = a + N.a } namespace N { a; b }": "a=const N=namespace a=const b=free",
    "import a = B.c": "B=free",
    "{ function f() {} f } f": "f=function f=free",
    "var x; { x; let y; { y } }": "x=var y=let",
    "class A { x = a; static { var a; a } }": "a=free a=var",
    "export { a }; export default b": "b=free",
  }
  for (const [code, expected] of Object.entries(cases)) {
    test(code, () => assert.equal(uses(code), expected))
  }
})

describe("how a name is used", () => {
  const flags = ({ read, write, call }: Reference) =>
    [read && "read", write && "write", call && "call"].filter(Boolean).join(" ")
  const cases = {
    x: "read",
    "x = 1": "write",
    "x += 1": "read write",
    "x++": "read write",
    "[x] = y": "write",
    "({ a: x = 1 } = y)": "write",
    "for (x of y) ;": "write",
    "x()": "read call",
    "new x()": "read call",
    "x`t`": "read call",
    "(x as any)!()": "read call",
    "x?.()": "read call",
    "x.y()": "read",
    "typeof x": "read",
    "f(x)": "read",
  }
  for (const [code, expected] of Object.entries(cases)) {
    test(`${code} is a ${expected}`, () => assert.equal(flags(use(code, "x")), expected))
  }

  test("a declaration knows what it starts as", () => {
    assert.equal(use("const x = eval; x", "x").declaration?.init?.type, "Identifier")
    assert.equal(use("function x() {} x", "x").declaration?.init?.type, "FunctionDeclaration")
    assert.equal(use("let x; x", "x").declaration?.init, undefined)
  })

  test("and where in it the value is", () => {
    const path = (code: string) => use(code, "x").declaration?.path
    assert.deepEqual(path("const x = y; x"), [])
    assert.deepEqual(path("const { x } = y; x"), ["x"])
    assert.deepEqual(path("const { a: { 'b-c': [x] } } = y; x"), ["a", "b-c", undefined])
    assert.deepEqual(path("const { [k]: x } = y; x"), [undefined])
    assert.deepEqual(path("const { a, ...x } = y; x"), [undefined])
    assert.deepEqual(path("import x from 'm'; x"), ["default"])
    assert.deepEqual(path("import { y as x } from 'm'; x"), ["y"])
    assert.deepEqual(path("import * as x from 'm'; x"), [])
  })

  test("an assignment knows what it assigns", () => {
    const { value, path } = use("({ a: x } = eval)", "x")
    assert.deepEqual([value?.type, path], ["Identifier", ["a"]])
    assert.equal(use("x += y", "x").value, undefined)
  })

  test("a var declared twice is assigned the second time", () => {
    const { declaration } = use("var x = 1; var x = 2; x", "x")
    assert.deepEqual(
      declaration?.references.map(({ write }) => write),
      [true, false],
    )
  })

  test("a declaration lists its uses", () => {
    const { declaration } = use("let x = 1; () => x; x++", "x")
    assert.equal(declaration?.references.length, 2)
  })
})

test("asking again gives the same analysis", () => {
  const cell = parseCell("let a")
  assert.equal(analyseScope(cell), analyseScope(cell))
})
