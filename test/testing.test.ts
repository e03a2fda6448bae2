import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DeclareTest, type RuntimeCase, testRuntime } from "karst/testing"
import { ConfigError } from "../src/core/errors.ts"
import { jsRuntime } from "../src/runtime/js.ts"
import type { Runtime } from "../src/runtime/runtime.ts"

describe("testRuntime", () => {
  test("declares a test for each promise, named by a word to skip it by", () => {
    const declared = declare(() => jsRuntime())
    assert.ok(declared.size > 50)
    for (const title of declared.keys()) assert.match(title, /^[a-z-]+: \S/)
  })

  test("skips a case with the reason it is given, and refuses a case it does not know", async () => {
    const skipped: unknown[] = []
    const declared = declare(() => jsRuntime(), { update: "it is read-only" })
    await bodyOf(declared, "update")({ skip: (reason) => skipped.push(reason) })
    assert.deepEqual(skipped, ["it is read-only"])
    const wrong: Record<string, string> = { upgrade: "no such case" }
    assert.throws(
      () => declare(() => jsRuntime(), wrong),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, /upgrade.*There are: persistence, /)
        return true
      },
    )
  })

  test("closes the runtimes it made, also when a case fails", async () => {
    const made: Runtime[] = []
    const make = () => {
      const runtime = jsRuntime()
      made.push(runtime)
      return broken({ names: async () => [] }, runtime)
    }
    await assert.rejects(run(declare(make), "names"))
    await run(declare(make), "separation")
    assert.equal(made.length, 3)
    for (const runtime of made) await assert.rejects(runtime.names(), /closed/)
  })
})

type Body = Parameters<DeclareTest>[1]

function declare(runtime: () => Runtime, skip: Partial<Record<RuntimeCase, string>> = {}): Map<string, Body> {
  const declared = new Map<string, Body>()
  testRuntime({ test: (title, body) => declared.set(title, body), runtime, language: "typescript", skip })
  return declared
}

function bodyOf(declared: Map<string, Body>, name: RuntimeCase): Body {
  const body = [...declared].find(([title]) => title.startsWith(`${name}: `))?.[1]
  assert.ok(body, name)
  return body
}

function run(declared: Map<string, Body>, name: RuntimeCase): Promise<void> {
  return bodyOf(declared, name)({ skip: () => assert.fail("skipped") })
}

function broken(changes: Partial<Runtime>, sound: Runtime): Runtime {
  return { ...sound, ...changes }
}
