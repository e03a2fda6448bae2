import assert from "node:assert/strict"
import { stripTypeScriptTypes } from "node:module"
import { describe, test } from "node:test"
import { isEsModule, lowerModuleSyntax } from "../../src/config/module-syntax.ts"

describe("lowerModuleSyntax", () => {
  const cases: [title: string, source: string, result: unknown][] = [
    [
      "numbers an enum and maps back",
      "export enum E { A, B = 5, C }\nresult = E",
      { A: 0, B: 5, C: 6, 0: "A", 5: "B", 6: "C" },
    ],
    ["keeps texts of an enum", 'enum E { A = "a", B = "b" }\nresult = E', { A: "a", B: "b" }],
    ["lets members refer to earlier ones", "enum E { A = 1, B = A << 1, C = E.A | B }\nresult = E.C", 3],
    [
      "accepts members named like keywords, texts and the enum",
      'enum E { default, "a b", E }\nresult = [E.default, E["a b"], E.E]',
      [0, 1, 2],
    ],
    ["reads a const enum as an enum", "const enum E { A = 3 }\nresult = E.A", 3],
    ["leaves a declared enum to Node", "declare enum E { A }\nresult = 1", 1],
    ["continues an enum", "enum E { A }\nenum E { B = 7 }\nresult = [E.A, E.B]", [0, 7]],
    ["reads an enum in a function", "function f() { enum E { A = 4 } return E.A }\nresult = f()", 4],
    ["keeps comments with commas out", "enum E { A, // a, b\n /* c, d */ B }\nresult = E.B", 1],
    [
      "fills a namespace",
      "namespace N { export const a = 1; export function f() { return a } const b = 2; export let { c } = { c: b } }\nresult = [N.a, N.f(), N.c, 'b' in N]",
      [1, 1, 2, false],
    ],
    ["fills nested namespaces", "namespace A.B { export namespace C { export const x = 1 } }\nresult = A.B.C.x", 1],
    [
      "adds a namespace to a function",
      "function f() { return 1 }\nnamespace f { export const two = 2 }\nresult = [f(), f.two]",
      [1, 2],
    ],
    ["leaves a namespace of types to Node", "namespace N { export interface I { a: 1 } }\nresult = 1", 1],
    [
      "assigns parameter properties",
      "class C { constructor(private readonly a: number, public b = 2, c = 3) { this.b += c } get() { return this.a } }\nconst o = new C(1)\nresult = [o.get(), o.b, Object.keys(o)]",
      [1, 5, ["a", "b"]],
    ],
    [
      "assigns parameter properties after super()",
      "class P { p = 0 }\nclass C extends P { constructor(public a: number) { super(); this.p = a } }\nresult = new C(4).p",
      4,
    ],
    ["leaves everything else as it is", "const enumerate = (a: number): number => a\nresult = enumerate(2)", 2],
  ]
  for (const [title, source, result] of cases) {
    test(title, () => assert.deepEqual(evaluate(source), result))
  }

  test("reads import = require() and export =", () => {
    const lowered = lowerModuleSyntax("import path = require('node:path')\nexport = { join: path.join }")
    assert.match(lowered, /const path = require\('node:path'\)\nmodule\.exports = \{/)
  })

  test("keeps every line where it was", () => {
    const source = "enum E {\n  A,\n\n  B,\n}\nnamespace N {\n  export const x = 1\n}\nfinalLine()"
    const lines = lowerModuleSyntax(source).split("\n")
    assert.equal(lines.length, 9)
    assert.equal(lines[8], "finalLine()")
  })

  test("gives text that is no TypeScript back as it is", () => {
    assert.equal(lowerModuleSyntax("enum {{"), "enum {{")
  })
})

describe("isEsModule", () => {
  for (const [source, expected] of [
    ["export const a = 1", true],
    ["import fs from 'node:fs'", true],
    ["export { a } from './a'", true],
    ["import type { A } from './a'\nmodule.exports = {}", false],
    ["const a = require('a')", false],
    ["export = 1", false],
  ] as const) {
    test(`${JSON.stringify(source)} is ${expected ? "one" : "none"}`, () => assert.equal(isEsModule(source), expected))
  }
})

/** Returns the value of `result` after Node has stripped the types and run the text. */
function evaluate(source: string): unknown {
  const code = stripTypeScriptTypes(lowerModuleSyntax(source)).replaceAll(/^\s*export /gm, "")
  // This test evaluates the emitted text on purpose.
  return new Function(`"use strict"; let result; ${code}\nreturn result`)()
}
