import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { validateOutput } from "../../../src/agent/guardrails.ts"
import { checkOutputs } from "../../../src/agent/outputs.ts"
import { ConfigError } from "../../../src/core/errors.ts"
import type { JsonSchema } from "../../../src/core/json.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { findMismatches } from "../../../src/runtime/schema/json-schema-validator.ts"
import { tool } from "../../../src/tools/tool.ts"

const wrapped = (inner: unknown) => ({ type: "object", properties: { "a/b": inner } }) as JsonSchema

const looped: JsonSchema = { type: "object", properties: {} }
looped.properties = { self: looped }

/** Schemas with a mistake, and what the error says. */
const mistakes: { [title: string]: [schema: JsonSchema, error: RegExp] } = {
  "a reference to nothing": [wrapped({ $ref: "#/$defs/gone" }), /at #\/properties\/a~1b\/\$ref: .*"#\/\$defs\/gone"/],
  "a reference that is no address": [wrapped({ $ref: "#/%" }), /at #\/properties\/a~1b\/\$ref: .*"#\/%"/],
  "a reference to an inherited member": [wrapped({ $ref: "#/constructor" }), /there is nothing at "#\/constructor"/],
  "a reference to no schema": [wrapped({ $ref: "#/type" }), /at #\/type: this is no schema: it is "object"/],
  "a pattern": [wrapped({ pattern: "(" }), /at #\/properties\/a~1b\/pattern: Invalid regular expression: \/\(\//],
  "a key of patternProperties": [
    { type: "object", patternProperties: { "[": {} } },
    /at #\/patternProperties: Invalid regular expression: \/\[\//,
  ],
  "a reference to itself": [{ type: "object", $ref: "#" }, /at #: it refers to itself without end/],
  "references that lead to each other": [
    { type: "object", $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    /refers to itself without end/,
  ],
  "an alternative that leads back": [
    wrapped({ anyOf: [{ type: "string" }, { not: { $ref: "#/properties/a~1b" } }] }),
    /refers to itself without end/,
  ],
  "a type that does not exist": [wrapped({ type: "text" }), /at #\/properties\/a~1b\/type: "text" is not a type/],
  "one of several types that does not exist": [wrapped({ type: ["null", "any"] }), /b\/type: "any" is not a type/],
  "a member that is no schema": [wrapped("string"), /at #\/properties\/a~1b: this is no schema: it is "string"/],
  "an alternative that is no schema": [wrapped({ anyOf: [{}, 1] }), /a~1b\/anyOf\/1: this is no schema: it is 1/],
  "a mistake behind a reference": [
    { type: "object", properties: { a: { $ref: "#/shared/a" } }, shared: { a: { pattern: "(" } } } as JsonSchema,
    /at #\/shared\/a\/pattern/,
  ],
  "required that is no list": [
    { type: "object", required: "a" },
    /at #\/required: this must be a list of names, and it is "a"/,
  ],
  "properties that are a list": [{ type: "object", properties: [] }, /at #\/properties: .*an object of schemas/],
  "an enum that is no list": [wrapped({ enum: "x" }), /at #\/properties\/a~1b\/enum: .*a list of values/],
  "a minimum that is no number": [wrapped({ minimum: "3" }), /a~1b\/minimum: this must be a number, and it is "3"/],
  "a length below zero": [wrapped({ maxLength: -1 }), /a~1b\/maxLength: .*0 or more, and it is -1/],
  "alternatives of which there are none": [wrapped({ oneOf: [] }), /a~1b\/oneOf: .*a list of schemas/],
  "a pattern that is no text": [wrapped({ pattern: 1 }), /a~1b\/pattern: this must be a text, and it is 1/],
  "an object that contains itself": [looped, /is no JSON Schema: it contains itself .*Refer to schemas by \$ref/],
  "a mistake in a definition that is not used": [{ type: "object", $defs: { a: { type: "x" } } }, /#\/\$defs\/a\/type/],
}

describe("a mistake in a JSON Schema is one error with its place, and no value is blamed:", () => {
  for (const [title, [schema, error]] of Object.entries(mistakes)) {
    test(title, () => {
      const isOurs = (thrown: unknown, start: RegExp) => {
        assert.ok(thrown instanceof ConfigError)
        assert.match(thrown.message, error)
        assert.match(thrown.message, start)
        return true
      }
      const input = schema
      // Where the schema is given …
      assert.throws(
        () => tool({ name: "t", description: "", input, run: () => 1 }),
        (thrown) => isOurs(thrown, /^tool "t": its input /),
      )
      assert.throws(
        () => fn(() => 1, { input }),
        (thrown) => isOurs(thrown, /^fn\(\): `input` /),
      )
      assert.throws(
        () => fn(() => 1, { output: input }),
        (thrown) => isOurs(thrown, /^fn\(\): `output` /),
      )
      assert.throws(
        () => checkOutputs({ x: input }, true),
        (thrown) => isOurs(thrown, /^outputs\.x /),
      )
      assert.throws(
        () => validateOutput(input),
        (thrown) => isOurs(thrown, /^validateOutput\(\): /),
      )
      // … and where a value is validated at once, whatever it is.
      for (const value of [1, {}, { "a/b": "text" }]) {
        assert.throws(
          () => findMismatches(schema, value),
          (thrown) => isOurs(thrown, /^The schema of a value /),
        )
      }
    })
  }
})

test("a pattern of the older syntax is matched by it", () => {
  assert.deepEqual(findMismatches({ pattern: "^[\\w-.]+$" }, "a-b.c"), [])
  assert.deepEqual(findMismatches({ pattern: "^[\\w-.]+$" }, "a b"), [
    { message: "expected to match ^[\\w-.]+$", path: [] },
  ])
  assert.deepEqual(findMismatches({ patternProperties: { "^\\-": { type: "number" } } }, { "-a": 1 }), [])
  assert.deepEqual(findMismatches({ pattern: "^.$" }, "🙂"), [])
})

test("what is not followed accepts everything: other documents, anchors, unknown keywords", () => {
  for (const $ref of ["https://example.com/a.json", "other.json#/a", "#anchor"]) {
    assert.deepEqual(findMismatches({ $ref }, 1), [])
  }
  assert.deepEqual(findMismatches({ contentSchema: { type: "?" }, format: "(" } as JsonSchema, 1), [])
})

test("schemas that contain themselves by way of a member are sound", () => {
  const list: JsonSchema = { type: "object", properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } } }
  assert.deepEqual(findMismatches(list, { next: { next: null } }), [])
  assert.notDeepEqual(findMismatches(list, { next: { next: 1 } }), [])
  const named = { $defs: { "a/b%": { type: "string" } }, $ref: "#/$defs/a~1b%25" }
  assert.notDeepEqual(findMismatches(named, 1), [])
})
