// test lane: unit, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type DeclareTest, testRuntime } from "karst/testing"
import { jsRuntime } from "../../src/runtime/js.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { mutants } from "./mutants.ts"

describe("testRuntime", () => {
  test("has a runtime for each case that only it catches", () => {
    const cases = [...declared(() => jsRuntime()).keys()]
    const byDesign = ["gate-methods"]
    assert.deepEqual(
      cases.filter((name) => !byDesign.includes(name) && !(name in mutants)),
      [],
    )
    assert.deepEqual(
      Object.keys(mutants).filter((name) => !cases.includes(name)),
      [],
    )
  })

  for (const [name, broken] of Object.entries(mutants)) {
    for (const [what, breaks] of Object.entries(broken)) {
      test(`${name} catches a runtime that ${what}`, async () => {
        const make = () => {
          const sound = jsRuntime()
          return { ...sound, ...breaks(sound) }
        }
        const check = declared(make).get(name) ?? assert.fail(name)
        await assert.rejects(check({ skip: () => assert.fail("skipped") }), (error) => !/It hangs/.test(String(error)))
      })
    }
  }
})

function declared(runtime: () => Runtime): Map<string, Parameters<DeclareTest>[1]> {
  const found = new Map<string, Parameters<DeclareTest>[1]>()
  const note: DeclareTest = (title, body) => found.set(title.split(":")[0] ?? "", body)
  testRuntime({ test: note, runtime, language: "typescript" })
  return found
}
