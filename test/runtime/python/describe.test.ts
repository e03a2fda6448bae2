import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { z } from "zod"
import { fn } from "../../../src/runtime/bindings.ts"
import type { StandardSchema } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import { sharedRuntime } from "./shared.ts"

/** A schema of a library that can validate and nothing else. */
const silent: StandardSchema = {
  "~standard": { version: 1, vendor: "silent", validate: (value) => ({ value }) },
}

describe("what the model reads about functions with schemas", { skip: requires("python") }, () => {
  const runtime = sharedRuntime({
    plan: fn((_input: { at?: Date | undefined; until: Date }) => new Date(), {
      input: z.object({ at: z.date().optional(), until: z.date() }),
      output: z.date(),
    }),
    day: fn((_at?: Date) => 1, { input: z.date().optional() }),
    count: fn((_sizes: bigint, _seen: Set<string>) => new Map<string, Date>(), {
      input: z.tuple([z.bigint(), z.set(z.string())]),
      output: z.map(z.string(), z.date()),
    }),
    shaped: fn((_text: string) => 1, { input: z.custom<string>().transform(String), output: silent }),
    checked: fn((_text: string) => 1, { input: silent }),
  })

  test("has types for values that JSON cannot hold", async () => {
    const text = await runtime.describe(["plan", "day", "count"])
    assert.match(text, /def plan\(until: datetime, at: datetime = \.\.\.\) -> datetime/)
    assert.match(text, /def day\(input: datetime\)/)
    assert.match(text, /def count\(arg1: int, arg2: set.*\) -> dict/)
  })

  test("is there for a schema that says nothing about its types", async () => {
    const text = await runtime.describe(["shaped", "checked"])
    assert.match(text, /def shaped\(/)
    assert.match(text, /def checked\(_text\)/)
  })

  test("is how they are called", async () => {
    const code = "from datetime import datetime\nplan(until=datetime(2024, 1, 1)).year > 2000"
    assert.equal(await runtime.value(code), true)
  })
})
