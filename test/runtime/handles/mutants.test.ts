// test lane: runtimes, long
import assert from "node:assert/strict"
import { after, describe, test } from "node:test"
import { type DeclareTest, handleCases, testHandles } from "karst/testing"
import type { Runtime } from "../../../src/runtime/runtime.ts"
import type { Mutant } from "./alter-frames.ts"
import { memoryRuntime } from "./memory-peer.ts"
import { callMutants } from "./mutants-of-calls.ts"
import { cellMutants } from "./mutants-of-cells.ts"
import { valueMutants } from "./mutants-of-values.ts"

const mutants: { [number: number]: { [what: string]: Mutant } } = { ...valueMutants, ...cellMutants, ...callMutants }

describe("testHandles over a link that changes nothing", () => {
  testHandles({
    test,
    after,
    language: "typescript",
    runtime: () => memoryRuntime({}),
    skip: { 197: "by design: the cells run in the process of the tests, which this case would kill" },
  })
})

describe("testHandles", () => {
  const applicable = handleCases.filter(({ notApplicable }) => notApplicable.typescript === undefined)

  test("has an altered link for each case", () => {
    assert.deepEqual(
      applicable.filter(({ number }) => !(number in mutants)).map(({ number }) => number),
      [],
    )
    assert.deepEqual(
      Object.keys(mutants).filter((number) => !applicable.some((each) => each.number === Number(number))),
      [],
    )
  })

  for (const { number } of applicable) {
    for (const [what, mutant] of Object.entries(mutants[number] ?? {})) {
      test(`#${padded(number)} catches a link that ${what}`, async () => {
        const { check, close } = declared(number, () => memoryRuntime({}, mutant()))
        try {
          await assert.rejects(
            check({ skip: () => assert.fail("skipped") }),
            (error) => !/It hangs|ran longer than/.test(String(error)),
          )
        } finally {
          await close()
        }
      })
    }
  }
})

function declared(number: number, runtime: () => Runtime) {
  const found = new Map<string, Parameters<DeclareTest>[1]>()
  let close = async () => {}
  testHandles({
    test: (title, body) => found.set(title.slice(0, 4), body),
    after: (given) => {
      close = given
    },
    language: "typescript",
    runtime,
  })
  return { check: found.get(`#${padded(number)}`) ?? assert.fail(`No case ${number}.`), close: () => close() }
}

function padded(number: number): string {
  return String(number).padStart(3, "0")
}
