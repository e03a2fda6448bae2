import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { copyJson, type Json, type JsonSchema } from "../src/core/json.ts"
import { hashValue } from "../src/engine/journal/call-hash.ts"
import { modelFailure } from "../src/models/model-failure.ts"
import { parseCell } from "../src/runtime/compiler/parse-cell.ts"
import { schemaType } from "../src/runtime/declare/json-schema-type.ts"
import { parseSignature, parseType } from "../src/runtime/declare/parse-signature.ts"
import { printType } from "../src/runtime/declare/type-tree.ts"
import { jsRuntime } from "../src/runtime/js.ts"
import { inspectShort, sizeOf } from "../src/runtime/preview.ts"
import { schemaPythonType } from "../src/runtime/python/python-types.ts"
import { checkRules } from "../src/runtime/rules/check-rules.ts"
import { safeRules } from "../src/runtime/rules/safe-rules.ts"
import { findMismatches } from "../src/runtime/schema/json-schema-validator.ts"
import { showValue } from "../src/runtime/show/show-value.ts"
import { encodeValue } from "../src/sessions/value-codec.ts"
import { discoverSkills } from "../src/skills/discover-skills.ts"
import { parseSkillText } from "../src/skills/front-matter.ts"
import { parseStored } from "../src/stores/encode-changes.ts"
import { compilePattern } from "../src/tools/search/search-pattern.ts"
import { compileGlob } from "../src/workspaces/glob.ts"
import { localWorkspace } from "../src/workspaces/local.ts"

const levels = 100_000

function nested(wrap: (inner: Json) => Json, inner: Json = 1): Json {
  let value = inner
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

const list = nested((inner) => [inner])
const record = nested((inner) => ({ a: inner }))
const text: Json = { type: "string" }
const schemas: Record<string, JsonSchema> = {
  properties: nested((inner) => ({ type: "object", properties: { a: inner } }), text) as JsonSchema,
  items: nested((inner) => ({ type: "array", items: inner }), text) as JsonSchema,
  choices: nested((inner) => ({ anyOf: [inner] }), text) as JsonSchema,
  constants: { const: record, enum: [list] },
  "unique items": { type: "array", uniqueItems: true },
  "itself only": { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } },
  itself: {
    $ref: "#/$defs/a",
    $defs: { a: { items: { $ref: "#/$defs/a" }, properties: { a: { $ref: "#/$defs/a" } } } },
  },
}
const names = {
  declareType(like: string, type: (name: string) => unknown) {
    type(like)
    return like
  },
}
const options = { literal: false, ignoreCase: false, multiline: false }
const cell = "let a = {}; for (let i = 0; i < 100000; i++) a = { a };"

/** Work with data that is nested deeper than any stack; it gives a result, or an error that is not about the stack. */
const entries: Record<string, () => unknown> = {
  "copy JSON": () => copyJson(list),
  "store a value": () => encodeValue(record),
  "hash a value": () => hashValue([new Map([[1, list]])]),
  "read stored JSON": () => parseStored("[".repeat(levels) + "]".repeat(levels), "store"),
  "show a list": () => showValue(list),
  "show a record": () => [showValue(record), inspectShort(record), sizeOf(record)],
  "read a type": () => printType(parseType(`string${"[]".repeat(levels)}`, "tool")),
  "read a type in brackets": () => parseType("(".repeat(levels), "tool"),
  "read a signature": () => parseSignature(`(a: ${"{a:".repeat(levels)}`, "tool"),
  "check the rules of a cell": () => checkRules(parseCell(`a${".a".repeat(20_000)}`), safeRules()),
  "parse a cell": () => parseCell("[".repeat(levels)),
  "compile a glob": () => compileGlob("{".repeat(levels) + "}".repeat(levels)),
  "compile a pattern": () => compilePattern("(".repeat(levels) + ")".repeat(levels), options),
  "read the lists of a skill": () => parseSkillText(Buffer.from(`---\nname: ${"[".repeat(levels)}\n---\n`)),
  "read the items of a skill": () => parseSkillText(Buffer.from(`---\n${"- ".repeat(levels)}a\n---\n`)),
  "explain a failure": () =>
    modelFailure(Object.assign(new Error("x"), { responseBody: "[".repeat(levels) }), { id: "m" }),
  "show the value of a cell": () => jsRuntime({}).execute(`${cell} a`),
  "show what a cell throws": () => jsRuntime({}).execute(`${cell} throw a`),
  "show what a cell prints": () => jsRuntime({}).execute(`${cell} console.log(a); console.table(a)`),
  "show causes of errors": () =>
    jsRuntime({}).execute(
      "let e = new Error('x'); for (let i = 0; i < 100000; i++) e = new Error('y', { cause: e }); throw e",
    ),
  async "keep a snapshot"() {
    const runtime = jsRuntime({})
    await runtime.execute(`${cell} 1`)
    runtime.describe()
    await jsRuntime({}).restore?.((await runtime.snapshot?.()) ?? assert.fail())
  },
}
for (const [what, schema] of Object.entries(schemas)) {
  entries[`check a list with a schema of ${what}`] = () => findMismatches(schema, list)
  entries[`check a record with a schema of ${what}`] = () => findMismatches(schema, record)
  entries[`check lists with a schema of ${what}`] = () => findMismatches(schema, [list, nested((inner) => [inner])])
  entries[`declare a schema of ${what}`] = () => printType(schemaType(schema, names, "Tool"))
  entries[`declare a schema of ${what} for Python`] = () => schemaPythonType(schema)
}

describe("data that is nested too deeply is no error of the stack", () => {
  for (const [title, work] of Object.entries(entries)) {
    test(title, async () => {
      try {
        await work()
      } catch (error) {
        assert.ok(error instanceof Error)
        assert.doesNotMatch(`${error.name}: ${error.message}`, /RangeError|call stack/)
      }
    })
  }

  test("it is named, with the cure", () => {
    assert.throws(() => copyJson(list), {
      code: "too-deep",
      message: /^The data is nested too deeply\. Make it flatter/,
    })
    const [problem] = findMismatches(schemas.itself ?? {}, list)
    assert.match(problem?.message ?? "", /nested too deeply to be checked; send it flatter/)
  })
})

describe("a tree of folders that is too deep", () => {
  const root = mkdtempSync(join(tmpdir(), "karst-deep-"))
  before(() => {
    mkdirSync(join(root, ...Array.from({ length: 400 }, () => "d")), { recursive: true })
    writeFileSync(join(root, "a.txt"), "a")
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  test("is an error with the cure, and leaves no folder open", async () => {
    const open = () => readdirSync("/proc/self/fd").length
    const workspace = localWorkspace(root)
    const all = async () => {
      for await (const _ of workspace.list()) {
        // Each is read.
      }
    }
    await assert.rejects(all, { code: "too-deep", message: /more than 200 folders down\. List a folder further down/ })
    const before = process.platform === "linux" ? open() : 0
    for (let turn = 0; turn < 5; turn++) await assert.rejects(all, { code: "too-deep" })
    if (process.platform === "linux") assert.equal(open(), before)
  })

  test("is not entered where skills are looked for", async () => {
    const told: string[] = []
    assert.deepEqual(await discoverSkills(root, (_path, _severity, message) => told.push(message)), [])
    assert.match(told.join("\n"), /more than 6 folders down/)
  })
})

describe("a pattern of a schema", () => {
  test("that takes for ever is stopped, and does not match", () => {
    const schema = { type: "string", pattern: "^(a+)+$" }
    assert.deepEqual(findMismatches(schema, "aaaa"), [])
    assert.equal(findMismatches(schema, `${"a".repeat(60)}!`).length, 1)
    assert.equal(findMismatches({ patternProperties: { "^(a+)+$": false } }, { [`${"a".repeat(60)}!`]: 1 }).length, 0)
  })

  test("compares long lists for equal items only where they may be equal", () => {
    const schema = { type: "array", uniqueItems: true }
    assert.deepEqual(
      findMismatches(
        schema,
        Array.from({ length: 100_000 }, (_, index) => ({ index })),
      ).length,
      0,
    )
    assert.equal(findMismatches(schema, [{ a: 1, b: 2 }, 3, { b: 2, a: 1 }]).length, 1)
    assert.equal(findMismatches(schema, ["1", 1, null, "null", [1], { 0: 1 }]).length, 0)
  })
})
