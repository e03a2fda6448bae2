import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import type { JsonSchema } from "../../../src/core/json.ts"
import { classType, fn } from "../../../src/runtime/bindings.ts"
import { declared } from "./declare-text.ts"

const call = (input: unknown) => input

/** Returns the declared type of a result with this schema. */
function shown(output: JsonSchema): string {
  const text = declared({ f: fn(() => {}, { output }) })
  return text.replace(/^declare function f\(\): Promise<([\s\S]*)> \/\/ inferred$/, "$1")
}

test("an object schema is one argument, under the name the function has for it", () => {
  const search = fn((query: unknown) => query, {
    input: z.object({ text: z.string(), limit: z.number().optional() }),
    output: z.array(z.string()),
  })
  assert.equal(
    declared({ search }),
    "declare function search(query: { text: string; limit?: number }): Promise<string[]>",
  )
})

test("an argument that the function takes apart is called input", () => {
  const search = fn((...args: unknown[]) => args, { input: z.object({ text: z.string() }) })
  assert.equal(declared({ search }), "declare function search(input: { text: string }): Promise<any>")
})

test("a tuple schema is one argument for each place, the last ones optional, with a rest", () => {
  const paint = fn((color: unknown, coats: unknown) => [color, coats], {
    description: "Paints.",
    input: z.tuple([z.string().describe("Its name"), z.number().optional()], z.boolean()),
  })
  assert.equal(
    declared({ paint }),
    "/**\n * Paints.\n * @param color Its name\n */\ndeclare function paint(color: string, coats?: number, ...rest: boolean[]): Promise<any>",
  )
})

test("an array schema that is no tuple is one argument", () => {
  const sum = fn((numbers: unknown) => numbers, { input: z.array(z.number()) })
  assert.equal(declared({ sum }), "declare function sum(numbers: number[]): Promise<any>")
})

test("descriptions of properties become comments on them", () => {
  const f = fn(call, { input: z.object({ to: z.string().describe("Where to.\nA name */ only.") }) })
  assert.equal(
    declared({ f }),
    "declare function f(input: {\n  /**\n   * Where to.\n   * A name *\\/ only.\n   */\n  to: string\n}): Promise<any>",
  )
})

test("a result is shown as it comes out and an argument as it goes in", () => {
  const schema = z.object({ size: z.number().default(1) })
  const f = fn(call, { input: schema, output: schema })
  assert.equal(declared({ f }), "declare function f(input: { size?: number }): Promise<{ size: number }>")
})

test("what JSON cannot hold is shown as what it is and never an error", () => {
  const input = z.object({
    at: z.date(),
    big: z.bigint(),
    map: z.map(z.string(), z.number()).optional(),
    file: z.instanceof(URL),
    odd: z.custom<string>(),
  })
  assert.equal(
    declared({ f: fn(call, { input, output: z.void() }) }),
    "declare function f(input: { at: Date; big: bigint; map?: Map<any, any>; file: URL; odd: unknown }): Promise<void>",
  )
})

test("a recursive schema becomes a named interface", () => {
  const Category = z.object({
    name: z.string(),
    get children() {
      return z.array(Category)
    },
  })
  assert.equal(
    declared({ tree: fn(() => {}, { output: Category }) }),
    [
      "interface TreeOutput {",
      "  name: string",
      "  children: TreeOutput[]",
      "}",
      "declare function tree(): Promise<TreeOutput> // inferred",
    ].join("\n"),
  )
})

test("a schema that its author named is declared once under that name", () => {
  const Task = z.object({ name: z.string() }).meta({ id: "Task", description: "A thing to do" })
  const text = declared({
    add: fn(call, { input: z.string(), output: Task }),
    all: fn(call, { input: z.string(), output: z.array(Task) }),
  })
  assert.equal(
    text,
    [
      "/** A thing to do */",
      "interface Task {",
      "  name: string",
      "}",
      "declare function add(input: string): Promise<Task>",
      "declare function all(input: string): Promise<Task[]>",
    ].join("\n"),
  )
})

test("two different schemas of one name, or the name of a binding, do not collide", () => {
  const define = (properties: JsonSchema): JsonSchema => ({
    $ref: "#/$defs/Task",
    $defs: { Task: { type: "object", properties, required: Object.keys(properties) } },
  })
  const text = declared({
    a: fn(call, { input: define({ a: { type: "string" } }) }),
    b: fn(call, { input: define({ b: { type: "string" } }) }),
    Task: classType(class {}),
  })
  assert.match(text, /interface Task2 \{\n {2}a: string\n\}/)
  assert.match(text, /interface Task3 \{\n {2}b: string\n\}/)
  assert.match(text, /declare function b\(input: Task3\)/)
})

test("mutually recursive definitions are named after each other", () => {
  const text = shown({
    $ref: "#/$defs/Node",
    $defs: {
      Node: { type: "object", properties: { edges: { type: "array", items: { $ref: "#/$defs/Edge" } } } },
      Edge: { type: "object", properties: { to: { $ref: "#/$defs/Node" } }, required: ["to"] },
    },
  })
  assert.match(text, /interface Edge \{\n {2}to: Node\n\}\ninterface Node \{\n {2}edges\?: Edge\[\]\n\}/)
})

test("enums and constants are literals, and too many of them are their common type", () => {
  assert.equal(shown({ enum: ["a", 'b"', 1, true, null] }), '"a" | "b\\"" | 1 | true | null')
  assert.equal(shown({ const: { a: [1, -2] } }), "{ a: [1, -2] }")
  assert.equal(shown({ type: "string", enum: Array.from({ length: 100 }, (_, index) => `v${index}`) }), "string")
})

test("nullable types, in each way to say so", () => {
  assert.equal(shown({ type: ["string", "null"] }), "string | null")
  assert.equal(shown({ type: "string", nullable: true }), "string | null")
  assert.equal(shown({ anyOf: [{ type: "null" }, { type: "integer" }] }), "number | null")
})

test("choices are unions and combinations intersections", () => {
  const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
  const b = { type: "object", properties: { b: { type: "string" } } }
  assert.equal(shown({ oneOf: [a, b] }), "{ a: string } | { b?: string }")
  assert.equal(shown({ allOf: [a, b] }), "{ a: string } & { b?: string }")
  assert.equal(shown({ ...a, type: "object", anyOf: [b, { type: "null" }] }), "{ a: string } & ({ b?: string } | null)")
  assert.equal(shown({ type: "object", anyOf: [a, b] }), "{ a: string } | { b?: string }")
})

test("records, open and closed objects", () => {
  assert.equal(shown({ type: "object", additionalProperties: { type: "number" } }), "Record<string, number>")
  assert.equal(shown({ type: "object" }), "Record<string, unknown>")
  assert.equal(shown({ type: "object", additionalProperties: false }), "Record<string, never>")
  assert.equal(
    shown({
      properties: { id: { type: "string", readOnly: true } },
      required: ["id"],
      additionalProperties: { type: "number" },
    }),
    "{ readonly id: string } & Record<string, number>",
  )
  assert.equal(
    shown({ type: "object", propertyNames: { enum: ["x", "y"] }, additionalProperties: { type: "number" } }),
    'Partial<Record<"x" | "y", number>>',
  )
})

test("tuples of both drafts", () => {
  const places = [{ type: "string" }, { type: ["number", "null"] }]
  assert.equal(shown({ type: "array", prefixItems: places, minItems: 1 }), "[string, (number | null)?]")
  assert.equal(
    shown({ type: "array", items: places, additionalItems: { type: "boolean" } }),
    "[string, number | null, ...boolean[]]",
  )
})

test("keys that are no identifiers are quoted", () => {
  assert.equal(
    shown({ type: "object", properties: { "a-b": {}, class: { type: "string" }, new: {} }, required: ["class"] }),
    '{ "a-b"?: unknown; class: string; "new"?: unknown }',
  )
})

test("a reference to another document and a schema that says nothing are unknown", () => {
  assert.equal(shown({ $ref: "https://example.org/schema.json" }), "unknown")
  assert.equal(shown({}), "unknown")
})

test("a reference to nowhere is a mistake of the schema", () => {
  assert.throws(() => shown({ $ref: "#/$defs/Missing" }), { name: "ConfigError" })
})

test("a schema that contains itself as an object is a mistake", () => {
  const loop: JsonSchema = { type: "object", properties: {} }
  loop.properties = { loop, other: loop }
  assert.throws(() => shown(loop), { name: "ConfigError" })
})

test("a schema that fans out stays bounded", () => {
  const $defs: JsonSchema = { _0: { type: "string" } }
  for (let level = 1; level < 30; level++) {
    const inner = { $ref: `#/$defs/_${level - 1}` }
    $defs[`_${level}`] = { type: "object", properties: { a: inner, b: inner, c: inner } }
  }
  assert.ok(shown({ $ref: "#/$defs/_29", $defs }).length < 100_000)
})

test("a schema given as a type is declared by what it admits", () => {
  const Task = classType(z.object({ name: z.string(), due: z.date().optional() }), { description: "A task" })
  assert.equal(declared({ Task }), "/** A task */\ninterface Task {\n  name: string\n  due?: Date\n}")
})

test("a schema that can only validate is unknown", () => {
  const schema = { "~standard": { version: 1 as const, vendor: "valibot", validate: () => ({ value: 1 }) } }
  assert.equal(declared({ f: fn(call, { input: schema }) }), "declare function f(input: unknown): Promise<any>")
})
