import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { evaluate, repl } from "./compiler-repl.ts"

const modules: Record<string, unknown> = {
  tools: { default: "the default", hammer: "hammer", "saw blade": "saw" },
  cjs: { default: { from: "default" }, "module.exports": { from: "exports" } },
}

function withModules() {
  const loads: unknown[][] = []
  const load = async (...args: unknown[]) => {
    loads.push(args)
    return modules[String(args[0])] ?? {}
  }
  return { loads, ...repl({ ambient: { import: load } }) }
}

describe("import", () => {
  test("default, named, renamed and namespace imports become names that persist", async () => {
    const { run } = withModules()
    await run('import d, { hammer, hammer as h, "saw blade" as saw } from "tools"\nimport * as all from "tools"')
    assert.deepEqual(await run("[d, hammer, h, saw, all.hammer]"), ["the default", "hammer", "hammer", "saw", "hammer"])
  })

  test("a real module is loaded", async () => {
    assert.equal(await evaluate('import { join } from "node:path"', 'join("a", "b")'), "a/b")
  })

  test("an import for its effects only is loaded", async () => {
    const { run, loads } = withModules()
    await run('import "effects"')
    assert.deepEqual(loads, [["effects"]])
  })

  test("an import that nothing uses yet is kept", async () => {
    const { run, loads } = withModules()
    await run('import { hammer } from "tools"')
    assert.equal(loads.length, 1)
  })

  test("imports further down are loaded before the first statement", async () => {
    const { run } = withModules()
    assert.deepEqual(await run('const early = hammer\nimport { hammer } from "tools"\nearly'), "hammer")
  })

  test("import attributes are passed on", async () => {
    const { run, loads } = withModules()
    await run('import data from "tools" with { type: "json" }')
    assert.deepEqual(loads, [["tools", { with: { type: "json" } }]])
  })

  test("a missing export is named as Node does", async () => {
    const { run } = withModules()
    await assert.rejects(run('import { drill } from "tools"'), {
      name: "SyntaxError",
      message: "The requested module 'tools' does not provide an export named 'drill'",
    })
  })

  test("type-only imports are not loaded, and types among names are left out", async () => {
    const { run, loads } = withModules()
    await run(
      'import type { A } from "a"\nimport { type B } from "b"\nimport type C from "c"\nimport { type D, hammer } from "tools"',
    )
    assert.deepEqual([loads, await run("hammer")], [[["tools"]], "hammer"])
  })

  test("import x = require() gives what require would", async () => {
    const { run } = withModules()
    assert.deepEqual(await run('import x = require("cjs")', "x"), { from: "exports" })
  })

  test("import x = A.B is an alias", async () => {
    assert.equal(await evaluate("const A = { B: { C: 7 } }", "import x = A.B.C", "x"), 7)
  })

  test("dynamic import goes the same way", async () => {
    const { run, loads } = withModules()
    assert.equal(await run('(await import("tools", { with: { type: "json" } })).hammer'), "hammer")
    assert.deepEqual(loads, [["tools", { with: { type: "json" } }]])
  })

  test("an imported name cannot be assigned but may be declared again", async () => {
    const { run } = withModules()
    await assert.rejects(run('import { hammer } from "tools"', "hammer = 1"), TypeError)
    assert.equal(await run("let hammer = 2", "hammer = 3", "hammer"), 3)
  })

  test("import.meta is refused with a reason", () => {
    assert.throws(() => repl().compile("import.meta.url"), {
      name: "SyntaxError",
      message: /import\.meta is not available in a cell/,
    })
  })
})

describe("export", () => {
  test("the keyword is dropped before declarations", async () => {
    const code =
      "export const a = 1; export let b = 2\nexport function c() { return 3 }\nexport class D {}\nexport enum E { F = 5 }\nexport default function g() { return 6 }"
    assert.deepEqual(await evaluate(code, "[a, b, c(), new D() instanceof D, E.F, g()]"), [1, 2, 3, true, 5, 6])
  })

  test("a default expression is evaluated, and is the value when it comes last", async () => {
    assert.deepEqual(await evaluate("let n = 0", "export default n++", "export default (n, n + 1)"), 2)
    assert.equal(typeof (await evaluate("export default function () {}")), "function")
    assert.equal(typeof (await evaluate("export default class {}")), "function")
    assert.equal(await evaluate("export = 5"), 5)
  })

  test("a default export in the middle of a cell does no harm", async () => {
    assert.equal(await evaluate("export default function () {}\nconst x = 1\nx"), 1)
    assert.equal(await evaluate("export default { a: 1 }\nconst x = 2\nx"), 2)
  })

  test("lists of names, of this cell or an earlier one, mean nothing", async () => {
    assert.equal(await evaluate("const a = 1", "const b = 2; export { a, b as c, type T }; a + b"), 3)
  })

  test("types are exported to nowhere", async () => {
    assert.equal(
      await evaluate(
        "export type A = 1\nexport interface B {}\nexport type { C } from 'c'\nexport declare const d: number\n1",
      ),
      1,
    )
  })

  test("re-exports are refused", () => {
    for (const code of ['export * from "x"', 'export * as ns from "x"', 'export { a } from "x"']) {
      assert.throws(() => repl().compile(code), { name: "SyntaxError", message: /cannot re-export/ })
    }
  })
})
