// test lane: runtimes
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { ConfigError } from "../../../../src/core/errors.ts"
import { createPythonChecker, type PythonChecker } from "../../../../src/runtime/python/rules/python-checker.ts"
import { attributeRule, functionRule, importRule, type Rule, regexRule } from "../../../../src/runtime/rules/rules.ts"
import { safeRules } from "../../../../src/runtime/rules/safe-rules.ts"
import { python, requires } from "../../../system.ts"
import { allowedCells, refusedCells } from "./python-rules-corpus.ts"

const skip = requires("python") ?? false
const path = python() ?? "python3"

const checkers = new Map<readonly Rule[], PythonChecker>()
after(async () => {
  for (const checker of checkers.values()) await checker.close()
})

function check(code: string, rules: readonly Rule[]) {
  const checker = checkers.get(rules) ?? createPythonChecker({ python: path, rules })
  checkers.set(rules, checker)
  return checker.check(code)
}

describe("the corpus: refused", { skip }, () => {
  for (const { title, code, rules, rule, line } of refusedCells) {
    test(title, async () => {
      const violations = await check(code, rules)
      const found = violations.map((violation) => `${violation.rule}, line ${violation.line}`)
      assert.ok(found.includes(`${rule}, line ${line}`), `found ${JSON.stringify(violations, null, 1)} in\n${code}`)
    })
  }
})

describe("the corpus: let through", { skip }, () => {
  for (const { title, code, rules } of allowedCells) {
    test(title, async () => assert.deepEqual(await check(code, rules), []))
  }
})

test("several violations are reported together, in the order of the source, with line and column", {
  skip,
}, async () => {
  const code = `import os\nrun = eval\nx = "é😀"; user.secret = os.system("a")\n# drop table users`
  const rules = [
    regexRule("drop table"),
    attributeRule("secret"),
    functionRule(["eval", "os.system"]),
    importRule("os"),
  ]
  const violations = await check(code, rules)
  assert.deepEqual(
    violations.map(({ rule, line, column }) => `${rule} ${line}:${column}`),
    ["import 1:1", "function 2:7", "attribute 3:12", "function 3:26", "regex 4:3"],
  )
})

test("a violation tells the reason its rule gives", { skip }, async () => {
  const [violation] = await check("import os", [importRule("os", { description: "use what you were given" })])
  assert.equal(violation?.message, 'the module "os" is not allowed: use what you were given')
})

test("without rules nothing is checked and no process is started", async () => {
  await using checker = createPythonChecker({ python: "/nowhere/python", rules: [] })
  assert.deepEqual(await checker.check("!ls"), [])
})

test("a rule that reads TypeScript's tree is refused when the checker is made", () => {
  const custom: Rule = { name: "no-loops", check: () => [] }
  assert.throws(() => createPythonChecker({ python: path, rules: [custom] }), ConfigError)
  assert.throws(() => createPythonChecker({ python: path, rules: safeRules() }), /safePythonRules/)
})

test("an interpreter that is not there blocks the cell", async () => {
  await using checker = createPythonChecker({ python: "/nowhere/python", rules: [importRule("os")] })
  const [violation] = await checker.check("1")
  assert.match(violation?.message ?? "", /could not be checked, so nothing is run: \/nowhere\/python/)
})

test("a cell that takes too long to check is blocked, and the next one is checked again", { skip }, async () => {
  const rules = [functionRule("eval")]
  await using checker = createPythonChecker({ python: path, rules, timeoutMs: 1 })
  const [violation] = await checker.check(`x = ${"[".repeat(50)}${"]".repeat(50)}\n`.repeat(20_000))
  assert.match(violation?.message ?? "", /took longer than 1 ms/)
  await using patient = createPythonChecker({ python: path, rules })
  assert.deepEqual(await patient.check("1"), [])
})

test("a cell nested too deeply is blocked, and the next one is checked", { skip }, async () => {
  const rules = [functionRule("eval")]
  await using checker = createPythonChecker({ python: path, rules })
  assert.equal((await checker.check(`${"(".repeat(5_000)}1${")".repeat(5_000)}`)).length, 1)
  assert.equal((await checker.check(`x = ${"a + ".repeat(20_000)}1`)).length, 1)
  assert.deepEqual(await checker.check("1"), [])
})

test("questions asked together are answered each for itself", { skip }, async () => {
  const rules = [functionRule("eval")]
  await using checker = createPythonChecker({ python: path, rules })
  const answers = await Promise.all(["1", "eval('1')", "2", "eval"].map((code) => checker.check(code)))
  assert.deepEqual(
    answers.map((found) => found.length),
    [0, 1, 0, 1],
  )
})

for (const [ends, message] of [
  ["takes too long", /took longer/],
  ["ends the process", /the checker ended/],
] as const) {
  test(`a check that ${ends} does not end the checks asked with it`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "checker-"))
    const wrapper = join(folder, "python")
    const script = `#!/bin/sh
while read -r line; do
  case $line in
    *"takes too long"*) exec sleep 1000 ;;
    *"ends the process"*) exit 1 ;;
  esac
  printf '%s\\n' "$line" | ${path} "$@"
done
`
    writeFileSync(wrapper, script, { mode: 0o755 })
    try {
      await using checker = createPythonChecker({ python: wrapper, rules: [functionRule("eval")], timeoutMs: 2000 })
      const answers = await Promise.all(["1", `"${ends}"`, "2", "eval"].map((code) => checker.check(code)))
      assert.deepEqual([answers[0], answers[2], answers[3]?.map(({ rule }) => rule)], [[], [], ["function"]])
      assert.match(answers[1]?.[0]?.message ?? "", message)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test("a closed checker blocks, and closing it twice is fine", { skip }, async () => {
  const checker = createPythonChecker({ python: path, rules: [functionRule("eval")] })
  assert.deepEqual(await checker.check("1"), [])
  await checker.close()
  await checker.close()
  assert.match((await checker.check("1"))[0]?.message ?? "", /closed/)
})

test("a program that closes its checker last, or never, ends", { skip }, () => {
  const module = new URL("../../../../src/runtime/python/rules/python-checker.ts", import.meta.url).href
  const rules = new URL("../../../../src/runtime/rules/rules.ts", import.meta.url).href
  const code = `
    const { createPythonChecker } = await import(${JSON.stringify(module)})
    const { functionRule } = await import(${JSON.stringify(rules)})
    const checker = createPythonChecker({ python: ${JSON.stringify(path)}, rules: [functionRule("eval")] })
    console.log((await checker.check("eval")).length)`
  for (const end of ["", "await checker.close()\nconsole.log('closed')"]) {
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", `${code}\n${end}`], {
      timeout: 30_000,
    })
    assert.equal(String(printed).trim(), end ? "1\nclosed" : "1")
  }
})
