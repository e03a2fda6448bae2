import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { bad, corpusBindings, type GoodCell, good } from "./corpus.ts"

async function runGated({ before = [], code, bindings = corpusBindings }: GoodCell) {
  await using runtime = jsRuntime(bindings())
  for (const earlier of before) {
    const execution = await runtime.execute(earlier, { typeGate: "block" })
    assert.ok(execution.ok, `before: ${execution.ok || execution.error.message}`)
  }
  return await runtime.execute(code, { typeGate: "block", timeoutMs: 10_000 })
}

describe("a good cell passes the gate and does its work", () => {
  for (const cell of good) {
    test(cell.title, async () => {
      const execution = await runGated(cell)
      assert.ok(
        execution.ok,
        execution.ok ? "" : `${execution.error.kind}: ${execution.error.message}\nin ${cell.code}`,
      )
    })
  }
})

describe("a bad cell is refused before anything of it runs", () => {
  for (const cell of bad) {
    test(cell.title, async () => {
      const execution = await runGated(cell)
      assert.ok(!execution.ok, `${cell.code} ran; hints: ${execution.hints}`)
      assert.equal(execution.error.kind, "type", `${execution.error.message}; hints: ${execution.hints}`)
      assert.ok(execution.error.message.includes(cell.names), execution.error.message)
      assert.equal(execution.output, "")
    })
  }
})

test("the corpus holds at least sixty cells of each kind", () => {
  assert.ok(good.length >= 60 && bad.length >= 60, `${good.length} good, ${bad.length} bad`)
})
