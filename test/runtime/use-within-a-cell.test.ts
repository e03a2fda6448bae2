// test lane: runtimes
// A function of the host that a cell calls can use the runtime of that cell, which waits for the function.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Bindings, jsRuntime, type Runtime } from "karst"
import { processRuntime } from "karst/process"
import { pythonRuntime } from "karst/python"
import { requires } from "../system.ts"
import { cellValue } from "./cell-results.ts"

const runtimes: [name: string, create: (bindings: Bindings) => Runtime, skip?: string | false | undefined][] = [
  ["jsRuntime", jsRuntime],
  ["processRuntime", processRuntime],
  ["pythonRuntime", pythonRuntime, requires("python")],
]
// A runtime that waits for the cell would wait forever.
const options = { timeoutMs: 20_000 }

for (const [name, create, skip = false] of runtimes) {
  describe(`a function that a cell of ${name} calls`, { skip }, () => {
    /** Runs a cell that calls a function of the host, and returns the result of the function. */
    async function called(use: (runtime: Runtime) => unknown): Promise<unknown> {
      let result: unknown
      const call = async () => {
        result = await use(runtime)
      }
      await using runtime = create({ call })
      const assign = runtime.language === "python" ? "total = 3" : "let total = 3"
      await cellValue(runtime, `${assign}\nawait call()`, options)
      return result
    }

    test("can take a snapshot", async () => {
      const snapshot = await called((runtime) => runtime.snapshot?.())
      await using other = create({ call: () => 1 })
      await other.restore?.(snapshot as never)
      assert.equal(await other.retrieve("total"), 3)
    })

    test("can fork the runtime", async () => {
      const total = await called(async (runtime) => {
        await using fork = await runtime.fork?.()
        return await fork?.retrieve("total")
      })
      assert.equal(total, 3)
    })

    test("can read and set names", async () => {
      const seen = await called(async (runtime) => {
        await runtime.update({ total: 4 })
        await runtime.inject({ more: 5 })
        return [await runtime.retrieve("total"), await runtime.retrieve("more"), (await runtime.names()).length]
      })
      assert.deepEqual(seen, [4, 5, 3])
    })
  })
}

for (const [name, create] of runtimes.slice(0, 2)) {
  test(`the check of a transaction can take a snapshot of ${name}`, async () => {
    await using runtime = create({})
    let lost: unknown
    const check = async () => {
      lost = (await runtime.snapshot?.())?.lost
    }
    assert.equal(await cellValue(runtime, "const total = 3\ntotal", { ...options, transaction: { check } }), 3)
    assert.deepEqual(lost, [])
  })
}
