// test lane: runtimes
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { handleCases, testHandles } from "karst/testing"
import { jsRuntime } from "../../../src/runtime/js.ts"

describe("the table of testHandles", () => {
  test("has at least 130 cases, each with a number of its own", () => {
    assert.ok(handleCases.length >= 130, `There are ${handleCases.length}.`)
    assert.equal(new Set(handleCases.map(({ number }) => number)).size, handleCases.length)
    assert.equal(new Set(handleCases.map(({ title }) => title)).size, handleCases.length)
  })

  test("declares one test for each case, skipped with the reason where the case has no meaning", async () => {
    const titles: string[] = []
    const skipped = new Map<string, string>()
    testHandles({
      language: "python",
      runtime: () => jsRuntime(),
      after: () => {},
      test(title, body) {
        titles.push(title)
        const isSkipped = handleCases.some(
          ({ number, notApplicable }) => title.startsWith(`#${padded(number)} `) && notApplicable.python,
        )
        if (isSkipped) void body({ skip: (reason = "") => skipped.set(title, reason) })
      },
    })
    assert.equal(titles.length, handleCases.length)
    const meaningless = handleCases.filter(({ notApplicable }) => notApplicable.python)
    assert.deepEqual(
      [...skipped],
      meaningless.map(({ number, title, notApplicable }) => [
        `#${padded(number)} ${title}`,
        `by design, not applicable: ${notApplicable.python}`,
      ]),
    )
  })

  test("knows the numbers that may be skipped", () => {
    const declare = () =>
      testHandles({
        test: () => {},
        after: () => {},
        language: "typescript",
        runtime: () => jsRuntime(),
        skip: { 9999: "no such case" },
      })
    assert.throws(declare, { name: "ConfigError", message: /No such case to skip: 9999/ })
  })
})

function padded(number: number): string {
  return String(number).padStart(3, "0")
}
