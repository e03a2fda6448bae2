import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { ConfigError } from "../../src/core/errors.ts"
import type { JsonSchema } from "../../src/core/json.ts"
import type { StandardSchema } from "../../src/runtime/runtime.ts"
import { findMismatches } from "../../src/runtime/schema/json-schema-validator.ts"
import { isTuple, toJsonSchema, validate } from "../../src/runtime/schema.ts"

const validateOnly = (vendor: string): StandardSchema<string> => ({
  "~standard": {
    version: 1,
    vendor,
    validate: (value) =>
      typeof value === "string" ? { value } : { issues: [{ message: "not text", path: [{ key: "a" }, 0] }] },
  },
})

test("a Standard Schema gives its JSON Schema, and plain JSON Schema is itself", () => {
  const plain: JsonSchema = { type: "string" }
  assert.equal(toJsonSchema(plain), plain)
  const { properties } = toJsonSchema(z.object({ name: z.string() }))
  assert.deepEqual(properties, { name: { type: "string" } })
})

test("a library that gives no JSON Schema is an error naming the converter", () => {
  assert.throws(
    () => toJsonSchema(validateOnly("valibot")),
    /valibot.*toStandardJsonSchema\(\) of @valibot\/to-json-schema/,
  )
  assert.throws(() => toJsonSchema(validateOnly("homemade")), /homemade.*plain JSON Schema/)
  assert.throws(() => toJsonSchema(z.date()), ConfigError)
})

test("a tuple describes all arguments, anything else one", () => {
  assert.equal(isTuple(z.tuple([z.string(), z.number()])), true)
  assert.equal(isTuple({ type: "array", items: [{ type: "string" }] }), true)
  assert.equal(isTuple(z.array(z.string())), false)
  assert.equal(isTuple(z.object({})), false)
  assert.equal(isTuple(validateOnly("homemade")), false)
})

test("validation by a Standard Schema gives the validated value or the path of each problem", async () => {
  const schema = z.object({ tasks: z.array(z.object({ name: z.string(), hours: z.coerce.number() })) })
  assert.deepEqual(await validate(schema, { tasks: [{ name: "a", hours: "2" }] }), {
    ok: true,
    value: { tasks: [{ name: "a", hours: 2 }] },
  })
  const bad = await validate(schema, { tasks: [{ name: 1, hours: 2 }] })
  assert.match(bad.ok ? "" : bad.message, /^tasks\[0\]\.name: .*string/)
  const keyed = await validate(validateOnly("homemade"), 1)
  assert.deepEqual(keyed, { ok: false, message: "a[0]: not text" })
})

test("asynchronous schemas validate too", async () => {
  const even = z.number().refine(async (value) => value % 2 === 0, "must be even")
  assert.deepEqual(await validate(even, 2), { ok: true, value: 2 })
  assert.deepEqual(await validate(even, 3), { ok: false, message: "must be even" })
})

const fits: [string, JsonSchema, unknown[], unknown[]][] = [
  ["types", { type: "integer" }, [1, -3], [1.5, "1", null]],
  ["several types", { type: ["string", "null"] }, ["a", null], [1, undefined]],
  ["finite numbers", { type: "number" }, [0.1], [Number.NaN, Number.POSITIVE_INFINITY]],
  ["choices", { enum: ["a", { b: 1 }] }, ["a", { b: 1 }], ["b", { b: 2 }]],
  ["constants", { const: null }, [null], [0, undefined]],
  ["lengths", { minLength: 2, maxLength: 3 }, ["ab", "🙂🙂🙂"], ["a", "abcd"]],
  ["patterns", { pattern: "^\\p{L}+$" }, ["été"], ["a1"]],
  ["bounds", { minimum: 1, exclusiveMaximum: 5, multipleOf: 0.5 }, [1, 4.5], [0, 5, 1.2]],
  ["bounds from the other side", { exclusiveMinimum: 1, maximum: 5 }, [5], [1, 6]],
  [
    "items",
    { type: "array", items: { type: "number" }, minItems: 1, uniqueItems: true },
    [[1, 2]],
    [[], ["a"], [1, 1]],
  ],
  ["places", { prefixItems: [{ type: "string" }], items: false }, [["a"], []], [[1], ["a", "b"]]],
  ["older places", { items: [{ type: "string" }], additionalItems: { type: "number" } }, [["a", 1]], [["a", "b"]]],
  [
    "properties",
    { properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    [{ a: "x" }],
    [{}, { a: 1 }, { a: "x", b: 1 }],
  ],
  [
    "other properties",
    { additionalProperties: { type: "number" }, maxProperties: 1 },
    [{ a: 1 }],
    [{ a: "x" }, { a: 1, b: 2 }],
  ],
  [
    "property names",
    { patternProperties: { "^n": { type: "number" } }, propertyNames: { maxLength: 2 } },
    [{ n: 1 }],
    [{ n: "x" }, { abc: 1 }],
  ],
  ["all of", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]],
  ["any of", { anyOf: [{ type: "string" }, { type: "number" }] }, ["a", 1], [true]],
  ["one of", { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
  ["not", { not: { type: "string" } }, [1], ["a"]],
  ["conditions", { if: { minimum: 10 }, then: { multipleOf: 10 }, else: { maximum: 5 } }, [20, 3], [15, 7]],
  [
    "references",
    { $ref: "#/$defs/node", $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } } },
    [{ next: {} }],
    [{ next: 1 }],
  ],
]

for (const [what, schema, good, bad] of fits) {
  test(`JSON Schema: ${what}`, () => {
    for (const value of good) assert.deepEqual(findMismatches(schema, value), [], JSON.stringify(value))
    for (const value of bad) assert.notDeepEqual(findMismatches(schema, value), [], JSON.stringify(value))
  })
}

test("of several alternatives the nearest explains itself", async () => {
  const schema: JsonSchema = {
    anyOf: [
      {
        type: "object",
        properties: { kind: { const: "circle" }, radius: { type: "number" } },
        required: ["kind", "radius"],
      },
      { type: "string" },
    ],
  }
  assert.deepEqual(await validate(schema, { kind: "circle", radius: "1" }), {
    ok: false,
    message: "radius: expected number, received string",
  })
  assert.deepEqual(await validate({ anyOf: [{ type: "string" }, { type: "null" }] }, 1), {
    ok: false,
    message: "expected string, received number, or expected null, received number",
  })
})

test("problems that differ only in the position of a list are one, with their number", async () => {
  const rows = Array.from({ length: 5000 }, (_, at) => ({ region: "x", amount: String(at) }))
  const row = z.object({ region: z.string(), amount: z.number() })
  const standard = await validate(z.array(row), rows)
  const message = "[].amount: Invalid input: expected number, received string (5,000 times)"
  assert.deepEqual(standard, { ok: false, message })
  const { $schema: _, ...plain } = toJsonSchema(z.array(row))
  const byJsonSchema = await validate(plain, rows)
  assert.deepEqual(byJsonSchema, { ok: false, message: "[].amount: expected number, received string (5,000 times)" })
  const few = await validate(z.array(row), rows.slice(0, 2))
  assert.match(few.ok ? "" : few.message, /^\[0\]\.amount: .*; \[1\]\.amount: /)
})

test("the text of many different problems has a limit and says how many are left out", async () => {
  const each = z.number().refine((value) => value < 0, { error: ({ input }) => `${input} is not below 0` })
  const validation = await validate(
    z.array(each),
    Array.from({ length: 5000 }, (_, at) => at),
  )
  const message = validation.ok ? "" : validation.message
  assert.ok(message.length < 2_500, `${message.length} characters`)
  assert.match(message, /^\[0\]: 0 is not below 0; \[1\]: /)
  assert.match(message, /; and 4,\d\d\d more problems$/)
})

test("one problem with a very long text is shortened", async () => {
  const validation = await validate(
    z.string().refine(() => false, { error: "x".repeat(100_000) }),
    "a",
  )
  assert.ok(!validation.ok && validation.message.length < 2_500)
})
