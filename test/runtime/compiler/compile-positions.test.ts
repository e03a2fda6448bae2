import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { CompiledCell } from "../../../src/runtime/compiler/compile-cell.ts"
import { CellSyntaxError, parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { repl } from "./compiler-repl.ts"

/** The innermost position in a cell on an error's stack. */
function place(error: unknown, filename: string, cell: CompiledCell): unknown {
  const [, line, column] = (error as Error).stack?.match(new RegExp(`at .*${filename}:(\\d+):(\\d+)`)) ?? []
  return cell.locate({ line: Number(line), column: Number(column) })
}

/** The position where a cell throws, and that of the first `@` in its text, which is removed before the cell runs. */
async function thrownAt(marked: string): Promise<{ actual: unknown; expected: unknown }> {
  const before = marked.slice(0, marked.indexOf("@")).split("\n")
  const { compile, scope, guard } = repl()
  const cell = compile(marked.replace("@", ""))
  const ambient = { globalThis, import: (specifier: string) => import(specifier) }
  const error = await cell.run(scope, ambient, guard).then(
    () => assert.fail("the cell was to throw"),
    (thrown: Error) => thrown,
  )
  const expected = { line: before.length, column: (before.at(-1) ?? "").length + 1 }
  return { actual: place(error, "cell-1.ts", cell), expected }
}

describe("the place of an error is the cell's own line and column", () => {
  const cells = {
    "on the first line": "throw @new Error('x')",
    "after names that were rewritten": "let a = 1, b = 2\na + b; a + b; throw @new Error('x')",
    "after types that were removed": "const a: Array<string> = [] as string[]; throw @new Error('x')",
    "below types that spanned lines": "interface A {\n  b: string\n}\ntype C =\n  | 1\n  | 2\nthrow @new Error('x')",
    "below an enum": "enum E {\n  A,\n  B = 2,\n}\nnull.@x",
    "below imports": "import { join } from 'node:path'\nimport type { A } from 'a'\n\n  throw @new TypeError('x')",
    "in a function called further down": "function f(x: number): number {\n  return x.missing.@deep\n}\n\nf(1)",
    "in an arrow with an expression as its body": "const f = (x: any) => x.missing.@deep\nf({})",
    "after an await": "await null\nawait null; const x: any = await null; x.@y",
    "in a class":
      "class A<T> {\n  private m(x?: T): void { throw @new Error('x') }\n  n() { this.m() }\n}\nnew A<number>().n()",
    "of a name that is not defined": "let a = 1\na + @missing",
    "of a call of what is no function": "let a: any = 1\n;@a()",
    "in a template and after a comment": "/* é\n */ `${1}${@missing}`",
    "with Windows line ends": "let a = 1\r\nlet b = 2\r\nthrow @new Error('x')",
    "of a handler": "try { null.x } catch (e: unknown) {\n  null.@y\n}",
  }
  for (const [what, code] of Object.entries(cells)) {
    test(what, async () => {
      const { actual, expected } = await thrownAt(code)
      assert.deepEqual(actual, expected)
    })
  }

  test("the frame of the cell itself is found below those of the functions it called", async () => {
    const { run, compile, scope, guard } = repl()
    await run("function thrower() { throw new Error('x') }")
    const cell = compile("1 + 1\n;[1].map(() => thrower())")
    const error = await cell.run(scope, {}, guard).catch((thrown: Error) => thrown)
    assert.deepEqual(place(error, "cell-2.ts", cell), { line: 2, column: 16 })
  })
})

describe("the engine's messages quote the cell, not what it was compiled to", () => {
  const messages = {
    "let a = 1; a()": "a is not a function",
    "let a = 1; a.b()": "a.b is not a function",
    "let a = 1; new a()": "a is not a constructor",
    "let a = 1; for (const x of a) ;": "a is not iterable",
    "for (const x of await 1) ;": "(intermediate value) is not iterable",
    "(await 1)()": "(intermediate value) is not a function",
    "globalThis.nothing()": "globalThis.nothing is not a function",
    "(() => { const { a } = b })(); var b": "Cannot destructure property 'a' of 'b' as it is undefined.",
    "namespace N { export const q = 1; q() }": "q is not a function",
  }
  for (const [code, message] of Object.entries(messages)) {
    test(message, async () => {
      await assert.rejects(repl().run(code), { message })
    })
  }
})

test("a cell that catches the engine's error sees the same message, however it looks at it", async () => {
  const code =
    "let a = 1, seen = []; try { a() } catch (e) { seen.push(e.message) } try { a() } catch ({ message, name = 'x' }) { seen.push(message, name) }"
  assert.deepEqual(await repl().run(code, "seen"), ["a is not a function", "a is not a function", "TypeError"])
})

describe("syntax errors", () => {
  const broken: [string, number, number, RegExp][] = [
    ["let a = 1\nlet b- = 2", 2, 6, /Unexpected token -/],
    ["foo(", 1, 5, /Unexpected end of the cell/],
    ["a b", 1, 3, /Unexpected token b/],
    ["let a\nlet b\nlet a", 3, 5, /'a' has already been declared/],
    ["if (x) {\n  return 1\n}", 2, 3, /return is only allowed inside a function/],
    ["const f = () => { await 1 }", 1, 19, /await/],
    ["const s = 'abc", 1, 11, /Unterminated string/],
    ["let x = 1 +", 1, 12, /Unexpected end of the cell/],
    ["class A { constructor() {} constructor() {} }", 1, 28, /Duplicate constructor/],
    ["break", 1, 1, /Unsyntactic break/],
    ["import x from 'a'; let x", 1, 24, /already been declared/],
    ["const x", 1, 8, /Unexpected|initial/],
  ]
  for (const [code, line, column, message] of broken) {
    test(`${JSON.stringify(code)} is refused at ${line}:${column}`, () => {
      assert.throws(
        () => parseCell(code),
        (error) => {
          assert.ok(error instanceof CellSyntaxError)
          assert.match(error.message, message)
          assert.deepEqual([error.name, error.line, error.column], ["SyntaxError", line, column])
          return true
        },
      )
    })
  }

  test("what only the engine refuses is placed too", () => {
    assert.throws(
      () => repl().compile("let a = 1\nlet b = 2; ((a) => {}) ? a : (x => {}) = 5"),
      (error) => {
        assert.ok(error instanceof CellSyntaxError)
        assert.equal(error.line, 2)
        return true
      },
    )
  })
})
