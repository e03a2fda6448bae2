import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { ConfigError } from "../../../src/core/errors.ts"
import { type Bindings, classType, fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import type { StandardSchema } from "../../../src/runtime/runtime.ts"
import { validateMaybeSync } from "../../../src/runtime/schema.ts"
import { tool } from "../../../src/tools/tool.ts"
import { requires } from "../../system.ts"
import { declared } from "../declare/declare-text.ts"
import { noGoodValue, schemaKinds } from "./schema-kinds.ts"

const kinds = Object.entries(schemaKinds)

describe("the type of a schema is declared", () => {
  for (const [title, { schema, input, output = input }] of kinds) {
    test(title, () => {
      assert.equal(resultType(schema, "Call"), output)
      const call = fn((value: unknown) => value, { input: schema })
      const text = declared({ call }).split("\n").at(-1) ?? ""
      const [, mark, shown] = /^declare function call\(value(\??): (.*)\): Promise<any>$/.exec(text) ?? []
      assert.ok(shown !== undefined, text)
      assert.equal(mark ? `${shown} | undefined` : shown, input.replaceAll("Call", "CallInput"))
    })
  }

  test("a schema whose library cannot convert it is unknown, in a declaration and as a type", () => {
    const opaque: StandardSchema = { "~standard": { version: 1, vendor: "other", validate: (value) => ({ value }) } }
    assert.equal(
      declared({ f: fn((value: unknown) => value, { input: opaque, output: opaque }), T: classType(opaque) }),
      "declare function f(value: unknown): Promise<unknown>\ntype T = unknown",
    )
  })

  test("a date deep inside a schema with a part that throws costs only that part", () => {
    const throwing = z.string().catch(() => {
      throw new Error("no value")
    })
    assert.equal(resultType(z.object({ at: z.date(), throwing }), "Call"), "{ at: Date; throwing: string }")
  })
})

describe("a call is validated against a schema", () => {
  for (const [title, { schema, good, ...kind }] of kinds) {
    test(title, async () => {
      if (good !== noGoodValue) assert.equal((await validateMaybeSync(schema, good)).ok, true)
      if ("bad" in kind) assert.equal((await validateMaybeSync(schema, kind.bad)).ok, false)
    })
  }
})

describe("a tool takes a schema that JSON can carry, and refuses another when it is made", () => {
  for (const [title, { schema, tool: isPossible }] of kinds) {
    test(title, () => {
      const make = () => tool({ name: "f", description: "", input: z.object({ value: schema }), run: () => 1 })
      if (isPossible) assert.equal(make().input.type, "object")
      else assert.throws(make, ConfigError)
    })
  }
})

const functions: Bindings = Object.fromEntries(
  kinds.map(([, { schema }], index) => [`f${index}`, fn((value: unknown) => value, { input: schema, output: schema })]),
)
const types: Bindings = Object.fromEntries(kinds.map(([, { schema }], index) => [`T${index}`, classType(schema)]))

for (const [name, make] of Object.entries({ jsRuntime, processRuntime })) {
  test(`${name}: every kind of schema is described, for functions and as a type`, async () => {
    await using runtime = make({ ...functions, ...types })
    const text = await runtime.describe()
    for (const index of kinds.keys()) {
      assert.match(text, new RegExp(`^declare function f${index}\\(`, "m"))
      assert.match(text, new RegExp(`^(type|interface) T${index}\\b`, "m"))
    }
  })
}

test("pythonRuntime: every kind of schema is described", { skip: requires("python") ?? false }, async () => {
  await using runtime = pythonRuntime({ ...functions, ...types })
  const text = await runtime.describe()
  kinds.forEach(([title, { python }], index) => {
    const [, parameters] = new RegExp(`^def f${index}\\((.*?)\\)`, "m").exec(text) ?? []
    assert.equal(parameters?.replace(/^\w+: /, "").replaceAll(/\bF\d+(?=[A-Z])/g, ""), python, title)
    assert.match(text, new RegExp(`^(T${index} = |class T${index}\\(TypedDict\\):)`, "m"), title)
  })
})

/** The type that the result of a function is declared as. */
function resultType(output: z.ZodType, name: string): string {
  const text =
    declared({ f: fn(() => {}, { output }) })
      .split("\n")
      .at(-1) ?? ""
  const [, shown = ""] = /^declare function f\(\): Promise<(.*)> \/\/ inferred$/.exec(text) ?? []
  // `Promise<Promise<any>>` is a Promise.
  const type = text.includes("Promise<any>") ? "Promise<any>" : shown
  return type.replaceAll("FOutput", name)
}
