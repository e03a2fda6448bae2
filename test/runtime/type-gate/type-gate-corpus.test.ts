// test lane: runtimes, long
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { Runtime, TypeGateMode } from "../../../src/runtime/runtime.ts"
import { requires } from "../../system.ts"
import {
  type BadCell,
  bad,
  corpusBindings,
  type GoodCell,
  good,
  needsTheObjectItself,
  withoutSync,
} from "./type-gate-corpus.ts"

const skip = requires("typescript") ?? false

const runtimes: Record<string, (cell: GoodCell) => Runtime> = {
  jsRuntime: ({ bindings = corpusBindings }) => jsRuntime(bindings()),
  processRuntime: ({ bindings = corpusBindings }) => processRuntime(withoutSync(bindings())),
}

async function run(runtime: Runtime, { before = [], code }: GoodCell, typeGate: TypeGateMode) {
  for (const earlier of before) {
    const execution = await runtime.execute(earlier, { typeGate })
    assert.ok(execution.ok, `before: ${execution.ok || execution.error.message}`)
  }
  return await runtime.execute(code, { typeGate, timeoutMs: 10_000 })
}

for (const [name, make] of Object.entries(runtimes)) {
  const isRemote = name === "processRuntime"
  const belongs = ({ title }: GoodCell) => !isRemote || !needsTheObjectItself.has(title)

  describe(`${name}: a good cell passes the gate and does its work`, { skip, concurrency: 4 }, () => {
    for (const cell of good.filter(belongs)) {
      test(cell.title, async () => {
        await using runtime = make(cell)
        const execution = await run(runtime, cell, "block")
        assert.ok(
          execution.ok,
          execution.ok ? "" : `${execution.error.kind}: ${execution.error.message}\nin ${cell.code}`,
        )
      })
    }
  })

  describe(`${name}: a bad cell is refused before anything of it runs`, { skip, concurrency: 4 }, () => {
    for (const cell of bad) {
      test(cell.title, async () => {
        await using runtime = make(cell)
        const execution = await run(runtime, cell, "block")
        assert.ok(!execution.ok, `${cell.code} ran; hints: ${execution.hints}`)
        assert.equal(execution.error.kind, "type", `${execution.error.message}; hints: ${execution.hints}`)
        assert.ok(isNamed(cell, execution.error.message, isRemote), execution.error.message)
        assert.equal(execution.output, "")
      })
    }
  })
}

/** In another process the result of a method or class is a promise, so the missing await is reported first. */
function isNamed({ names }: BadCell, message: string, isRemote: boolean): boolean {
  return message.includes(names) || (isRemote && message.includes("Promise<"))
}

test("the cells that are left out where objects are elsewhere do not do their work there", { skip }, async () => {
  const left = good.filter(({ title }) => needsTheObjectItself.has(title))
  assert.equal(left.length, needsTheObjectItself.size)
  for (const cell of left) {
    const { bindings = corpusBindings } = cell
    await using here = jsRuntime(bindings())
    await using elsewhere = processRuntime(withoutSync(bindings()))
    const expected = await run(here, cell, "off")
    // In another process an earlier cell may already fail.
    const execution = await run(elsewhere, cell, "off").catch(() => undefined)
    assert.ok(expected.ok && !(execution?.ok && execution.preview === expected.preview), cell.title)
  }
})

test("the corpus holds at least sixty cells of each kind", () => {
  assert.ok(good.length >= 60 && bad.length >= 60, `${good.length} good, ${bad.length} bad`)
})
