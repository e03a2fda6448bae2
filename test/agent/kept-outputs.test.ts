import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { EventOf } from "../../src/core/event.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { processRuntime } from "../../src/runtime/process.ts"
import type { Runtime } from "../../src/runtime/runtime.ts"
import { memoryStore } from "../../src/stores/memory-store.ts"

const cell = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`

async function cellEnds(codes: readonly string[], runtime: Runtime, maxOutputChars = 300) {
  const model = scriptedModel([...codes.map(cell), "ok"])
  const { trajectory } = await createAgent({ model, runtime, maxOutputChars, limits: { cycles: 20 } }).run("go")
  return trajectory.events.filter((event): event is EventOf<"code-end"> => event.type === "code-end")
}

for (const [name, create] of [
  ["jsRuntime", () => jsRuntime()],
  ["processRuntime", () => processRuntime()],
] as const) {
  describe(`a value that is shown in part, in ${name}`, () => {
    test("is kept itself, not as text and not as a copy", async () => {
      await using runtime = create()
      const [first, second] = await cellEnds(
        ["globalThis.rows = Array.from({ length: 900 }, (_, id) => ({ id }));\nglobalThis.rows", "_output_1 === rows"],
        runtime,
      )
      assert.match(
        first?.text ?? "",
        /… 900 items\n\]\n… shortened; whole value in _output_1\n\(new: .*\)\n<\/output>$/,
      )
      assert.deepEqual([first?.kept, first?.keptValue], [undefined, "_output_1"])
      assert.match(second?.text ?? "", /true/)
    })

    test("is not kept if it has a name", async () => {
      await using runtime = create()
      const [end] = await cellEnds(["const rows = Array.from({ length: 900 }, (_, id) => ({ id }))\nrows"], runtime)
      assert.doesNotMatch(end?.text ?? "", /shortened/)
      assert.equal(end?.keptValue, undefined)
    })

    test("is kept if a name only ends its expression", async () => {
      await using runtime = create()
      const [end, next] = await cellEnds(
        ["const a = 'x'.repeat(900)\nconst b = 'y'\na +\n  b", "let i = 0\nconst rows = Array(900).fill(1)\ni++\nrows"],
        runtime,
      )
      assert.deepEqual([end?.keptValue, next?.keptValue], ["_output_1", undefined])
      assert.equal(String(await runtime.retrieve("_output_1")).length, 901)
    })

    test("is kept beside printed text, each once", async () => {
      await using runtime = create()
      const [end] = await cellEnds(['console.log("word ".repeat(200))\nArray(900).fill(1)'], runtime)
      assert.deepEqual(new Set([end?.kept, end?.keptValue]), new Set(["_output_1", "_output_2"]))
      assert.equal(typeof (await runtime.retrieve(end?.kept ?? "")), "string")
      assert.equal(((await runtime.retrieve(end?.keptValue ?? "")) as unknown[]).length, 900)
    })

    test("is dropped when eight later ones are kept, and the model is told which", async () => {
      await using runtime = create()
      const ends = await cellEnds(
        [...Array(10).fill("Array(900).fill(1)"), "typeof _output_2 + typeof _output_3"],
        runtime,
      )
      assert.deepEqual(
        ends.map(({ dropped }) => dropped?.join()),
        [...Array(8).fill(undefined), "_output_1", "_output_2", undefined],
      )
      assert.match(ends[8]?.text ?? "", /Dropped: _output_1\. Only the last 8 stored outputs stay\./)
      assert.match(ends[10]?.text ?? "", /undefinedobject/)
      const names = (await runtime.names()).map((each) => each.name)
      assert.equal(names.filter((each) => each.startsWith("_output_")).length, 8)
    })
  })

  describe(`\`_\` in ${name}`, () => {
    const valueOfCell = async (runtime: Runtime, code: string) => {
      const execution = await runtime.execute(code, { typeGate: "block" })
      assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
      return execution.value
    }

    test("is the last value; a cell without one leaves it as it is", async () => {
      await using runtime = create()
      assert.equal(await valueOfCell(runtime, "_"), undefined)
      await valueOfCell(runtime, "[1, 2, 3]")
      await valueOfCell(runtime, "const unrelated = 5")
      await valueOfCell(runtime, "undefined")
      await runtime.execute("throw new Error('no')")
      assert.equal(await valueOfCell(runtime, "_.length + _[2]"), 6)
      assert.equal(await valueOfCell(runtime, "_"), 6)
    })

    test("belongs to the cells once they declare it", async () => {
      await using runtime = create()
      await valueOfCell(runtime, "1")
      await valueOfCell(runtime, "const [_, second] = ['mine', 2]")
      await valueOfCell(runtime, "second + 1")
      assert.equal(await valueOfCell(runtime, "_"), "mine")
    })

    test("is no name of the namespace, and gone after a reset", async () => {
      await using runtime = create()
      const execution = await runtime.execute("1 + 1")
      assert.deepEqual(execution.changes.created, [])
      assert.deepEqual(await runtime.names(), [])
      await runtime.reset()
      assert.equal(await valueOfCell(runtime, "_"), undefined)
    })

    test("cannot be injected", async () => {
      await using runtime = create()
      await assert.rejects(
        async () => runtime.inject({ _: 1 }),
        /"_" is the value of the last cell; choose another name/,
      )
    })
  })
}

test("a kept value and `_` keep the guards of the object", async () => {
  const account = {
    id: "a",
    entries: Array.from({ length: 900 }, (_, at) => at),
    pay() {
      return "paid"
    },
  }
  const runtime = jsRuntime({ account: variable(account, { guard: { pay: { approve: true } } }) })
  const codes = ["[account][0]", "try { await _.pay() } catch (error) { String(error) }", "await _output_1.pay()"]
  const [, second, third] = await cellEnds(codes, runtime, 100)
  assert.doesNotMatch(second?.text ?? "", /paid/)
  assert.equal(third?.ok, false)
})

test("a kept value is in a snapshot; one that cannot be stored is named lost", async () => {
  const runtime = jsRuntime()
  const end = async (code: string) => (await cellEnds([code], runtime, 60))[0]
  const stored = await end("Array.from({ length: 900 }, (_, id) => id)")
  const lost = await end("({ socket: new (await import('node:net')).Socket(), more: 'x'.repeat(900) })")
  const other = jsRuntime()
  const losses = await other.restore(await runtime.snapshot())
  assert.equal(((await other.retrieve(stored?.keptValue ?? "")) as number[])[899], 899)
  assert.ok(losses.some(({ name }) => name === lost?.keptValue))
})

test("a resumed session goes on dropping the oldest output, and has the values that stay", async () => {
  const archive = memoryStore()
  const agentFor = (codes: readonly string[]) =>
    createAgent({
      model: scriptedModel([...codes.map(cell), "ok"]),
      runtime: () => jsRuntime(),
      maxOutputChars: 300,
      limits: { cycles: 20 },
    })
  const big = (count: number) => Array.from({ length: count }, (_, at) => `Array(900).fill(${at})`)
  const first = await agentFor(big(6)).session({ archive })
  await first.send("one")
  const { id } = first
  await first.close()
  await using second = await agentFor([...big(4), "_output_3[899] + _output_10[899]"]).session({ archive, resume: id })
  const { trajectory } = await second.send("two")
  const ends = trajectory.events.filter((event) => event.type === "code-end")
  assert.deepEqual(ends.map(({ keptValue, dropped }) => [keptValue, dropped?.join()]).slice(-3), [
    ["_output_9", "_output_1"],
    ["_output_10", "_output_2"],
    [undefined, undefined],
  ])
  assert.match(ends.at(-1)?.text ?? "", /\n5\n/)
})
