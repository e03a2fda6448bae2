// Cases of the runtime suite: `finish(text)`, with which a cell ends its run.
import assert from "node:assert/strict"
import { type Code, runtimeCase, sameInBoth } from "./runtime-case.ts"

const allowed = { allowFinish: true }

export const finishCases = {
  finish: runtimeCase(
    "`finish(text)` returns the text with the execution, and does not end the cell",
    async (trial) => {
      const code = { typescript: "finish('a\\nb')\nconst later = 1", python: "finish('a\\nb')\nlater = 1" }
      const { finishText, changes } = await trial.ran(code, allowed)
      assert.deepEqual([finishText, changes.created], ["a\nb", ["later"]])
      assert.equal((await trial.ran(sameInBoth("1"), allowed)).finishText, undefined)
      const inFunction = {
        typescript: "const answer = async () => finish('deep')\nawait answer()",
        python: "async def answer():\n    finish('deep')\nawait answer()",
      }
      assert.equal((await trial.ran(inFunction, allowed)).finishText, "deep")
    },
  ),

  "finish-value": runtimeCase("`finish` shows a value that is no text as the output of a cell does", async (trial) => {
    assert.equal((await trial.ran(sameInBoth("finish(42)"), allowed)).finishText, "42")
    const { preview } = await trial.ran({ typescript: "[1, { a: 'x' }]", python: "[1, {'a': 'x'}]" })
    const list = { typescript: "finish([1, { a: 'x' }])", python: "finish([1, {'a': 'x'}])" }
    assert.equal((await trial.ran(list, allowed)).finishText, preview)
  }),

  "finish-failed-cell": runtimeCase("`finish` in a cell that fails returns nothing", async (trial) => {
    const code = { typescript: "finish('x')\nthrow new Error('no')", python: "finish('x')\nraise ValueError('no')" }
    assert.equal("finishText" in (await trial.failed(code, allowed)), false)
    assert.equal((await trial.ran(sameInBoth("1"), allowed)).finishText, undefined)
  }),

  "finish-refusals": runtimeCase(
    "`finish` refuses a value that cannot be an answer, and a second call",
    async (trial) => {
      const refusals: [Code, RegExp][] = [
        [sameInBoth("finish('  ')"), /The text is empty/],
        [{ typescript: "finish(undefined)", python: "finish(None)" }, /takes the answer, not (?:undefined|None)/],
        [
          { typescript: "finish(Promise.resolve(1))", python: "import asyncio\nfinish(asyncio.sleep(0))" },
          /await it first/,
        ],
        [{ typescript: "finish('x'.repeat(1_000_001))", python: "finish('x' * 1_000_001)" }, /at most 1,000,000/],
        [
          {
            typescript: "finish(Array.from({ length: 200_000 }, (_, i) => i))",
            python: "finish(list(range(200_000)))",
          },
          /too large to be shown whole/,
        ],
        [sameInBoth("finish('a')\nfinish('b')"), /already called in this cell/],
      ]
      for (const [code, message] of refusals) assert.match((await trial.failed(code, allowed)).error.message, message)
    },
  ),

  "finish-not-allowed": runtimeCase("`finish` fails in a cell that belongs to no run", async (trial) => {
    assert.match((await trial.failed(sameInBoth("finish('x')"))).error.message, /belongs to no run/)
  }),

  "finish-name": runtimeCase("`finish` is no name of the namespace, and cannot be injected", async (trial) => {
    await assert.rejects(trial.runtime.inject({ finish: () => 1 }), /"finish" is the function .*choose another name/)
    await trial.ran(sameInBoth("finish"))
    assert.deepEqual(await trial.runtime.names(), [])
    assert.equal(await trial.runtime.describe(), "")
    await trial.runtime.reset()
    assert.equal((await trial.ran(sameInBoth("finish('still here')"), allowed)).finishText, "still here")
  }),

  "finish-own-name": runtimeCase("a cell may have a name `finish` of its own", async (trial) => {
    const { changes } = await trial.ran({ typescript: "const finish = 3", python: "finish = 3" })
    assert.deepEqual(changes.created, ["finish"])
    assert.equal(await trial.value(sameInBoth("finish + 1"), allowed), 4)
    assert.equal(await trial.runtime.retrieve("finish"), 3)
    const snapshot = await trial.runtime.snapshot?.()
    if (!snapshot || !trial.runtime.restore) return
    await trial.runtime.reset()
    assert.deepEqual(await trial.runtime.restore(snapshot), [])
    assert.equal(await trial.runtime.retrieve("finish"), 3)
  }),
}
