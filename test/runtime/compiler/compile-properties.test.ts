import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { test } from "node:test"
import { runInNewContext } from "node:vm"
import fc from "../../property.ts"
import { repl } from "./compiler-repl.ts"

const names = ["a", "b", "c", "d", "e"] as const
const name = fc.constantFrom(...names)
const number = fc.integer({ min: -9, max: 9 })

/** An expression that uses existing names. */
const expression: fc.Arbitrary<string> = fc.letrec<{ any: string; leaf: string }>((tie) => ({
  leaf: fc.oneof(
    name,
    number.map((n) => `(${n})`),
  ),
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.tuple(tie("any"), fc.constantFrom("+", "-", "*", "|"), tie("any")).map(([l, o, r]) => `(${l} ${o} ${r})`),
    fc.tuple(tie("any"), tie("any"), tie("any")).map(([t, l, r]) => `(${t} > 0 ? ${l} : ${r})`),
    fc.tuple(name, tie("any"), tie("any")).map(([p, body, arg]) => `((${p}) => ${body})(${arg})`),
    tie("any").map((e) => `[1, 2].reduce((sum, item) => sum + item + ${e}, 0)`),
    tie("any").map((e) => `({ v: ${e} }).v`),
    fc.tuple(name, tie("any")).map(([n, e]) => `(() => { let ${n} = 1; ${n} += 1; return ${n} })() + ${e}`),
  ),
})).any

/** A statement of a cell, and the same statement in a script in which every name is a `var`. */
const statement = fc.oneof(
  fc.tuple(fc.constantFrom("let", "var"), name, expression).map(([k, n, e]) => [`${k} ${n} = ${e}`, `${n} = ${e}`]),
  fc.tuple(name, fc.constantFrom("=", "+=", "-=", "||="), expression).map(([n, o, e]) => same(`${n} ${o} ${e}`)),
  fc.tuple(name, fc.constantFrom("++", "--")).map(([n, o]) => same(`${n}${o}`)),
  fc.tuple(name, name, expression, expression).map(([m, n, e, f]) => same(`[${m}, ${n}] = [${e}, ${f}]`)),
  fc.tuple(name, name, expression).map(([n, p, e]) => [`var { x: ${n}, ...${p}_rest } = { x: ${e} }`, `${n} = ${e}`]),
  fc.tuple(name, expression).map(([n, e]) => same(`if (${n} > 0) { ${n} = ${e} } else ${n}--`)),
  fc.tuple(name, name).map(([n, m]) => same(`for (let i = 0; i < 3; i++) ${n} += ${m}`)),
  fc.tuple(name, expression).map(([n, e]) => [`for (var ${n} of [1, ${e}]) ;`, `for (${n} of [1, ${e}]) ;`]),
  fc
    .tuple(name, expression)
    .map(([n, e]) => same(`try { throw ${e} } catch (${n === "a" ? "b" : "a"}) { ${n} = ${n === "a" ? "b" : "a"} }`)),
)

function same(text: string): [string, string] {
  return [text, text]
}

test("declarations and changes spread over cells give what one script gives", async () => {
  const cells = fc.array(fc.array(statement, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 })
  const property = fc.asyncProperty(cells, async (groups) => {
    // A cell may declare a name only once, so each declaring statement is a cell.
    const separate = groups.flatMap((group) =>
      group.some(([cell]) => /^(let|var|for \(var)/.test(cell ?? "")) ? group.map((one) => [one]) : [group],
    )
    const { run } = repl()
    await run("let a = 1, b = 2, c = 3, d = 4, e = 5")
    for (const group of separate) await run(group.map(([cell]) => cell).join("\n;"))
    const script = groups.flat().map(([, plain]) => plain)
    const expected = runInNewContext(
      `var a = 1, b = 2, c = 3, d = 4, e = 5;${script.join("\n;")}\n;[a, b, c, d, e].join()`,
    )
    assert.equal(await run("[a, b, c, d, e].join()"), expected)
  })
  await fc.assert(property, { numRuns: 300 })
})

test("a library of six thousand lines works as a cell", async () => {
  const path = createRequire(import.meta.url)
    .resolve("acorn")
    .replace(/acorn\.js$/, "acorn.mjs")
  const { run } = repl()
  await run(readFileSync(path, "utf8"))
  const count =
    'parse("class A { #b = async () => `${await 1}` }; let { c = 1, ...d } = e?.f ?? 2n ** 3n", { ecmaVersion: "latest" }).body.length'
  assert.equal(await run(count), 3)
  await assert.rejects(run('parse("let a; let a", { ecmaVersion: 2022 })'), {
    name: "SyntaxError",
    message: /already been declared/,
  })
})
