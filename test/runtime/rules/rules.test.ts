import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { parseCell } from "../../../src/runtime/compiler/parse-cell.ts"
import { checkRules } from "../../../src/runtime/rules/check-rules.ts"
import {
  attributeRule,
  explainViolations,
  functionRule,
  importRule,
  type Rule,
  regexRule,
} from "../../../src/runtime/rules/rules.ts"
import { safeRules } from "../../../src/runtime/rules/safe-rules.ts"
import fc from "../../property.ts"
import { allowed, blocked } from "./rules-corpus.ts"

const check = (code: string, ...rules: Rule[]) => checkRules(parseCell(code), rules)

const messages = (code: string, ...rules: Rule[]) => check(code, ...rules).map(({ message }) => message)
const places = (code: string, ...rules: Rule[]) =>
  check(code, ...rules).map(({ rule, line, column }) => `${rule} ${line}:${column}`)

test("several violations are reported together, in the order of the source, with line and column", () => {
  const code = `import fs from "fs"
const run = eval
  user.secret = fs.readFileSync("a"); process.exit(1)
// drop table users`
  const rules = [
    regexRule("drop table"),
    attributeRule("secret"),
    functionRule(["eval", "process.exit"]),
    importRule(["fs"]),
  ]
  assert.deepEqual(places(code, ...rules), [
    "import 1:1",
    "function 2:13",
    "attribute 3:8",
    "function 3:39",
    "regex 4:4",
  ])
})

test("columns count in the cell's own text, whatever ends its lines", () => {
  assert.deepEqual(places("1\r\n  eval\r  eval\u2028  eval", functionRule("eval")), [
    "function 2:3",
    "function 3:3",
    "function 4:3",
  ])
})

test("what several rules say alike about one place is said once", () => {
  assert.equal(check("use(globalThis)", functionRule("eval"), functionRule("Function")).length, 1)
})

test("without rules nothing is checked, and without code nothing is refused", () => {
  assert.deepEqual(check("eval('1')"), [])
  assert.deepEqual(check("", ...safeRules(), regexRule("x")), [])
})

test("checking a cell again gives the same, also with a pattern that keeps its place", () => {
  const [cell, rules] = [parseCell("open(); open()"), [regexRule(/open/g), regexRule(/open/y), functionRule("open")]]
  assert.deepEqual(checkRules(cell, rules), checkRules(cell, rules))
  assert.equal(checkRules(cell, rules).length, 4)
})

test("a custom rule reads the tree and reports where it likes", () => {
  const noLoops: Rule = {
    name: "no-loops",
    *check(cell) {
      const found: number[] = []
      cell.walk((node) => node.type === "WhileStatement" && found.push(node.start))
      for (const offset of found) yield cell.report(offset, "use an array method")
    },
  }
  assert.deepEqual(check("let i: number = 0\nwhile (i < 3) i++", noLoops), [
    { rule: "no-loops", message: "use an array method", line: 2, column: 1 },
  ])
})

test("a custom rule reads the facts: names by what they stand for, modules, members", () => {
  const seen: Rule = {
    name: "seen",
    check: ({ names, imports, members, scopes, report, program }) => [
      report(program, names.map(({ path, use }) => `${path} ${use}`).join(", ")),
      report(program, imports.map(({ specifier }) => specifier).join(", ")),
      report(program, members.map(({ name }) => name).join(", ")),
      report(program, [...(scopes.cell.names?.keys() ?? [])].join(", ")),
    ],
  }
  assert.deepEqual(messages('const { max } = globalThis["Math"]\nawait import("d3")\nprint(max.length)', seen), [
    "Math.max value, print call, Math.max.length value",
    "d3",
    "Math, max, length",
    "max",
  ])
})

test("a rule's own state is at hand when it checks", () => {
  const limited = {
    name: "short",
    limit: 3,
    check(this: { limit: number }, cell: Parameters<Rule["check"]>[0]) {
      return cell.code.length > this.limit ? [cell.report(0, "too long")] : []
    },
  }
  assert.deepEqual(messages("1 + 1", limited), ["too long"])
})

test("a rule that throws blocks, and what it found before and the other rules find is kept", () => {
  const broken: Rule = {
    name: "broken",
    *check(cell) {
      yield cell.report(0, "first")
      throw new Error("oops")
    },
  }
  const violations = check("eval('1')", broken, functionRule("eval"))
  assert.deepEqual(
    violations.map(({ rule, message }) => [rule, message]),
    [
      ["broken", "first"],
      ["broken", 'the rule "broken" failed, so nothing is run: Error: oops'],
      ["function", "`eval` is not allowed"],
    ],
  )
})

test("a rule that gives nothing to iterate blocks", () => {
  // Values that untyped JavaScript can pass.
  const silent = { name: "silent", check: () => undefined } as unknown as Rule
  assert.match(messages("1", silent).join(), /the rule "silent" failed/)
})

test("a cell that cannot be followed is refused once, not run unchecked", () => {
  const cell = parseCell("1")
  Object.defineProperty(cell.program, "body", {
    get() {
      throw new RangeError("Maximum call stack size exceeded")
    },
  })
  assert.deepEqual(
    checkRules(cell, safeRules()).map(({ message }) => message),
    ["the cell could not be checked, so nothing is run: RangeError: Maximum call stack size exceeded"],
  )
})

test("a module or a member of the global objects that is known only when the cell runs is refused", () => {
  for (const code of [
    "await import(name)",
    "process.getBuiltinModule(name)",
    "globalThis[name]()",
    "process[name]",
    "const { [name]: found } = globalThis",
    "Reflect.get(globalThis, name)",
  ]) {
    const found = messages(code, ...safeRules())
    assert.ok(
      found.some((message) => message.includes("cannot be checked")),
      `${code}: ${found}`,
    )
  }
  assert.deepEqual(check("rows[name]", ...safeRules()), [])
})

test("text that doubles on every line does not fill the memory", () => {
  const lines = Array.from({ length: 60 }, (_, index) => `const a${index + 1} = a${index} + a${index}`)
  assert.deepEqual(check(`const a0 = "x"\n${lines.join("\n")}\nrow[a60]`, ...safeRules()), [])
})

test("violations are explained in a line each, without noise", () => {
  const violations = check(
    "import 'fs'\n  eval('1')",
    importRule("fs"),
    functionRule("eval", { description: "compute instead" }),
  )
  assert.equal(
    explainViolations(violations),
    'line 1, column 1: the module "fs" is not allowed\nline 2, column 3: `eval` is not allowed: compute instead',
  )
  assert.equal(explainViolations([]), "")
})

test("a long list of violations is cut short", () => {
  const lines = explainViolations(check("x;".repeat(30), regexRule("x"))).split("\n")
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1), "and 10 more")
})

test("a single name is a name, not its letters", () => {
  assert.deepEqual(places("import 'f'; e; x.s", importRule("fs"), functionRule("eval"), attributeRule("secret")), [])
  assert.deepEqual(
    places("import 'fs'; eval; x.secret", importRule("fs"), functionRule("eval"), attributeRule("secret")),
    ["import 1:1", "function 1:14", "attribute 1:22"],
  )
})

test("names that cannot be names are refused when the rule is made", () => {
  assert.throws(() => functionRule(""), ConfigError)
  assert.throws(() => attributeRule(["a", ""]), ConfigError)
  assert.throws(() => importRule({ only: [""] }), ConfigError)
})

test("an allow list may be empty: then nothing is imported", () => {
  assert.deepEqual(messages("import 'd3'", importRule({ only: [] })), ['the module "d3" is not allowed'])
})

test("an import rule sees through each way to write one module", () => {
  const specifiers = ["fs", "node:fs", " fs", "NODE:fs", "no\\nde:fs", "fs/promises", "node:fs/promises"]
  for (const specifier of specifiers)
    assert.equal(check(`import "${specifier}"`, importRule("node:fs")).length, 1, specifier)
  for (const specifier of ["fsx", "./fs", "x/fs", "@fs/x", "fs-extra"]) {
    assert.equal(check(`import "${specifier}"`, importRule("fs")).length, 0, specifier)
  }
})

test("a function rule's exceptions stay allowed, and so does what lies below them", () => {
  const rule = functionRule("process", { except: ["process.stdout", "process.env.HOME"] })
  assert.deepEqual(check("process.stdout.write(process.env.HOME)\nconst { stdout } = process", rule), [])
  assert.deepEqual(messages("process.env.PATH", rule), ["`process.env.PATH` is not allowed"])
})

test("a pattern's every match is reported, over lines, in strings and comments", () => {
  assert.deepEqual(places("a /* b */\n'b'\nb", regexRule("b")), ["regex 1:6", "regex 2:2", "regex 3:1"])
  assert.deepEqual(places("start\nend", regexRule("start.end")), ["regex 1:1"])
  assert.deepEqual(places("B", regexRule(/b/i), regexRule(/b/)), ["regex 1:1"])
})

test("several patterns make one rule", () => {
  assert.deepEqual(messages("one + two", regexRule(["one", /two/], { description: "no counting" })), [
    'the text "one" is not allowed: no counting',
    'the text "two" is not allowed: no counting',
  ])
})

test("an invalid pattern, or none, is refused when the rule is made", () => {
  assert.throws(() => regexRule("("), { name: "ConfigError", message: 'regexRule(): "(" is not a regular expression.' })
  assert.throws(() => regexRule([]), ConfigError)
})

test("however the way to eval is dressed up, it is found", () => {
  const split = fc.integer({ min: 1, max: 3 }).map((at) => `"${"eval".slice(0, at)}" + "${"eval".slice(at)}"`)
  const root = fc.constantFrom("globalThis", "global", "globalThis.globalThis", 'globalThis["global"]')
  const member = fc
    .tuple(root, split)
    .chain(([object, key]) =>
      fc.constantFrom(
        `${object}.eval`,
        `${object}?.eval`,
        `${object}[${key}]`,
        `${object}?.[\`ev\${"al"}\`]`,
        `Reflect.get(${object}, ${key})`,
        `Object.getOwnPropertyDescriptor(${object}, ${key}).value`,
        `(({ eval: f } = ${object}) => f)()`,
      ),
    )
  const way = fc.oneof(fc.constant("eval"), fc.constant("ev\\u0061l"), member)
  const dress: ((inner: string) => string)[] = [
    (inner) => `(${inner})`,
    (inner) => `(0, ${inner})`,
    (inner) => `(${inner} as any)`,
    (inner) => `(${inner})!`,
    (inner) => `[${inner}][0]`,
    (inner) => `({ run: ${inner} }).run`,
    (inner) => `(await (async () => { const f = ${inner}; return f })())`,
    (inner) => `(await ${inner})`,
    (inner) => `(yes ? ${inner} : no)`,
    (inner) => `(${inner} ?? no)`,
  ]
  fc.assert(
    fc.property(way, fc.array(fc.constantFrom(...dress), { maxLength: 5 }), (inner, dresses) => {
      const code = `const found = ${dresses.reduce<string>((text, next) => next(text), inner)}`
      assert.ok(check(code, ...safeRules()).length > 0, code)
    }),
    { numRuns: 500 },
  )
})

describe("the corpus: refused", () => {
  for (const { title, code, rules, rule, line } of blocked) {
    test(title, () => {
      const violations = check(code, ...rules)
      const found = violations.map((violation) => `${violation.rule}, line ${violation.line}`)
      assert.ok(found.includes(`${rule}, line ${line}`), `found ${JSON.stringify(violations, null, 1)} in\n${code}`)
    })
  }
})

describe("the corpus: let through", () => {
  for (const { title, code, rules } of allowed) test(title, () => assert.deepEqual(check(code, ...rules), []))
})

describe("the corpus: attacks that work when nothing checks them", () => {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  for (const { title, code, proof } of blocked) {
    if (!proof) continue
    test(title, async () => {
      const run = AsyncFunction(`"use strict";${code}\nreturn ${proof}`)
      assert.equal(await run(), true)
    })
  }
})
