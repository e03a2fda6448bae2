// biome-ignore-all lint/correctness/noUnusedFunctionParameters: parameters are what these tests look at
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { z } from "zod"
import { ConfigError } from "../../../src/core/errors.ts"
import type { JsonSchema } from "../../../src/core/json.ts"
import { classType, fn, variable } from "../../../src/runtime/bindings.ts"
import { describeType } from "../../../src/runtime/declare/inspect-value.ts"
import fc from "../../property.ts"
import { declared } from "./declare-text.ts"

const key = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "get",
    "set",
    "static",
    "readonly",
    "new",
    "constructor",
    "async",
    "declare",
    "class",
    "__proto__",
    "*/",
    "a\nb",
  ),
)

const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.anything({
      key,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    }),
    fc.dictionary(key, tie("value")),
    fc.array(tie("value")),
    fc.func(fc.integer()),
  ),
})).value

const schema = fc.letrec<{ schema: JsonSchema | boolean }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.boolean(),
    fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array", "odd") }),
    fc.record({ enum: fc.array(fc.jsonValue()) }),
    fc.record({ const: fc.jsonValue() }),
    fc.record({
      $ref: fc.oneof(fc.constantFrom("#", "#/$defs/a", "#/properties/x", "#/$defs/__schema0"), fc.string()),
    }),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(key, tie("schema")),
        required: fc.array(key),
        additionalProperties: tie("schema"),
        description: fc.string(),
        $defs: fc.dictionary(fc.oneof(fc.constantFrom("a", "__schema0", "Map"), key), tie("schema")),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record(
      { type: fc.constant("array"), prefixItems: fc.array(tie("schema")), items: tie("schema") },
      { requiredKeys: ["type"] },
    ),
    fc.record({ anyOf: fc.array(tie("schema")), title: fc.string(), nullable: fc.boolean() }),
    fc.record({ allOf: fc.array(tie("schema")), oneOf: fc.array(tie("schema")) }),
  ) as fc.Arbitrary<JsonSchema | boolean>,
})).schema

test("whatever data is injected, the declarations are TypeScript", () => {
  fc.assert(
    fc.property(data, fc.string(), (value, description) => {
      declared({ x: variable(value, description), y: variable([value, value]) })
      assert.ok(describeType(value).length <= 60)
    }),
    { numRuns: 150 },
  )
})

function isAccepted(input: JsonSchema): boolean {
  try {
    fn(() => {}, { input })
    return true
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return false
  }
}

test("whatever the JSON Schema, the declarations are TypeScript", () => {
  fc.assert(
    fc.property(schema, fc.string(), (input, description) => {
      // A schema with a mistake, such as a reference to nowhere, is refused before anything is declared.
      fc.pre(typeof input !== "boolean" && isAccepted(input))
      declared({ f: fn((a: unknown) => a, { input, output: input, description }), g: fn(() => {}, { output: input }) })
    }),
    { numRuns: 150 },
  )
})

test("whatever a class is made of, the declarations are TypeScript", () => {
  fc.assert(
    fc.property(fc.array(key), fc.array(key), data, (methods, statics, field) => {
      class Made {
        field = field
      }
      const define = (on: object, name: string) => {
        if (!Object.hasOwn(on, name)) Object.defineProperty(on, name, { value: (a: string) => a })
      }
      for (const name of methods) define(Made.prototype, name)
      for (const name of statics) define(Made, name)
      declared({ Made: classType(Made), made: new Made() })
      declared({ made: new Made() })
    }),
    { numRuns: 150 },
  )
})

test("the compiler accepts the declarations and what cells do with them", { timeout: 60_000 }, async () => {
  class Room {
    title = "hall"
  }
  class Light extends Room {
    brightness = 0
    get isOn() {
      return this.brightness > 0
    }
    dim(level: number, { seconds = 1 } = {}) {}
    static of(...names: string[]) {}
  }
  class Bag extends Map {}
  const Tree = z.object({
    name: z.string(),
    get children() {
      return z.array(Tree)
    },
  })
  const agent = { name: "cleaner", runtime: {}, run() {}, session() {}, describe() {}, with() {} }
  const text = declared({
    light: new Light(),
    bag: new Bag(),
    Color: classType(Object.freeze({ Red: "red", Blue: "blue" })),
    tasks: variable(Array(2).fill({ name: "a", done: false, "due-at": new Date() }), "The tasks"),
    scores: { "ann@example.org": 1 },
    report: undefined,
    add: fn((a: number, b = 2) => a + b),
    area: fn((w: number) => w, { sync: true, signature: "(w: number, h?: number) => number" }),
    tree: fn(() => {}, { input: z.tuple([z.string(), z.date().optional()]), output: Tree }),
    rename: fn(() => {}, {
      source: "interface Task { name: string }\nexport function rename(task: Task): Task { return task }",
    }),
    cleaner: agent,
  })
  const cell = `
light.dim(20, { seconds: 2 })
const on: boolean = light.isOn && light.title.length > 0 && light instanceof Light && Color.Red !== undefined
tasks = tasks.filter((task) => !task.done && task["due-at"].getTime() > 0)
report = scores["x"].toFixed(1) + area(2) + bag.size
const sum: number = await add(1)
const child = (await tree("x", new Date())).children[0].children
const renamed: string = (await rename({ name: "b" })).name
await cleaner.runtime.update({ rows: tasks })
const { output } = await cleaner.run("clean")
export { on, sum, child, renamed, output }
`
  const directory = await mkdtemp(join(tmpdir(), "karst-declare-"))
  try {
    const file = join(directory, "cell.mts")
    await writeFile(file, `${text}\n${cell}`)
    const compiler = join(import.meta.dirname, "../../../node_modules/.bin/tsc")
    const options = ["--noEmit", "--strict", "--target", "es2024", "--module", "nodenext", "--moduleDetection", "force"]
    const check = promisify(execFile)(compiler, [...options, file], { cwd: directory })
    await check.catch((error: { stdout: string }) => assert.fail(`${error.stdout}\n${text}`))
  } finally {
    await rm(directory, { recursive: true })
  }
})
