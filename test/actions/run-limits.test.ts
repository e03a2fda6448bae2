import assert from "node:assert/strict"
import { after, beforeEach, describe, test } from "node:test"
import { createAgent } from "../../src/agent/create-agent.ts"
import type { Limits } from "../../src/core/agent.ts"
import { ConfigError } from "../../src/core/errors.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import { currentCall } from "../../src/runtime/bindings/gated-call.ts"
import { fn, variable } from "../../src/runtime/bindings.ts"
import { jsRuntime } from "../../src/runtime/js.ts"
import { withEnoughTime } from "../waiting.ts"
import { type Code, lastResultText, modelRunningCells, runtimes } from "./every-runtime.ts"

const made: unknown[] = []
const heard: unknown[] = []
let isCalled = false

/** A function that never ends by itself and records the reason when its signal aborts. */
const hang = () =>
  new Promise(() => {
    isCalled = true
    const { signal } = currentCall() ?? {}
    signal?.addEventListener("abort", () => heard.push((signal.reason as Error).name))
  })

class Meter {
  read(n: number) {
    made.push(n)
    return n
  }
  hang = hang
}

const bindings = () => ({
  mail: fn((to: string) => void made.push(to), { maxCalls: 2 }),
  note: (text: string) => void made.push(text),
  slow: fn(hang, { timeoutMs: 20 }),
  forever: hang,
  meter: variable(new Meter(), { guard: { read: { maxCalls: 1 }, hang: { timeoutMs: 20 } } }),
})

for (const { name, skip, open } of runtimes) {
  describe(`limits of calls in ${name}`, { skip }, () => {
    const runtime = open(bindings())
    after(() => runtime.close())
    beforeEach(() => {
      made.splice(0)
      heard.splice(0)
      isCalled = false
    })

    const run = async (code: Code, limits: Limits = {}, cellTimeoutMs?: number) => {
      const model = modelRunningCells(runtime, code)
      const result = await createAgent({ model, runtime, limits, cellTimeoutMs }).run("go")
      return { said: lastResultText(model), result }
    }

    test("count within one run, and one call more is an error that names the limit", async () => {
      const thrice = { typescript: "for (const to of 'abc') await mail(to)", python: "for to in 'abc': mail(to)" }
      const { said } = await run(thrice)
      assert.match(said, /CallLimitReached: mail was not called: this run may make 2 calls of it \(maxCalls\)/)
      assert.deepEqual(made, ["a", "b"])
      await run(thrice)
      assert.deepEqual(made, ["a", "b", "a", "b"])
    })

    test("hold for calls made together", async () => {
      const code = {
        typescript: "await Promise.allSettled(['a', 'b', 'c', 'd'].map((to) => mail(to)))",
        python: "import asyncio\nawait asyncio.gather(*[mail.async_(to) for to in 'abcd'], return_exceptions=True)",
      }
      await run(code)
      assert.equal(made.length, 2)
    })

    test("hold for guarded methods", async () => {
      const code = { typescript: "await meter.read(1)\nawait meter.read(2)", python: "meter.read(1)\nmeter.read(2)" }
      assert.match((await run(code)).said, /meter\.read was not called: this run may make 1 calls of it/)
      assert.deepEqual(made, [1])
    })

    test("of a run are for all its calls, or for those of a name", async () => {
      const code = {
        typescript: "await note('a')\nawait note('b')\nawait meter.read(3)",
        python: "note('a')\nnote('b')\nmeter.read(3)",
      }
      assert.match(
        (await run(code, { calls: 2 })).said,
        /meter\.read was not called: .*2 calls in all \(limits\.calls\)/,
      )
      assert.deepEqual(made.splice(0), ["a", "b"])
      assert.match((await run(code, { callsByName: { note: 1 } })).said, /1 calls of it \(limits\.callsByName\)/)
      assert.deepEqual(made.splice(0), ["a"])
      assert.match(
        (await run(code, { callsByName: { "meter.read": 0 } })).said,
        /0 calls of it \(limits\.callsByName\)/,
      )
    })

    test("of time give a call up with a TimeoutError, and the function hears of it", async () => {
      for (const call of ["slow", "meter.hang"]) {
        const code = {
          typescript: `try { await ${call}() } catch (error) { console.log("gave up:", error.name) }`,
          python: `try:\n    ${call}()\nexcept TimeoutError as error:\n    print("gave up:", type(error).__name__)`,
        }
        assert.match((await run(code)).said, /gave up: TimeoutError/)
        assert.deepEqual(heard.splice(0), ["TimeoutError"])
      }
    })

    test("of a cell reach the functions it called by their signal", async () => {
      const code = { typescript: "await forever()", python: "forever()" }
      const { result } = await withEnoughTime(
        (cellTimeoutMs) => run(code, {}, cellTimeoutMs),
        () => isCalled,
      )
      const end = result.trajectory.events.find((event) => event.type === "code-end")
      assert.equal(end?.error?.kind, "timeout")
      assert.equal(heard.length, 1)
    })
  })
}

describe("limits of calls", () => {
  test("of a run count the calls of the runs it starts as well", async () => {
    const inner = jsRuntime({ note: (text: string) => void made.push(text) })
    const code = { typescript: "await note('1')\nawait note('2')\nawait note('3')", python: "" }
    const model = modelRunningCells(inner, code)
    const child = createAgent({ model, runtime: inner })
    const outer = jsRuntime({ start: async () => (await child.run("go")).output })
    const start = modelRunningCells(outer, { typescript: "await start()", python: "" })
    await createAgent({ model: start, runtime: outer, limits: { calls: 3 } }).run("go")
    assert.match(lastResultText(model), /note was not called: this run may make 3 calls in all/)
    assert.deepEqual(made.splice(0), ["1", "2"])
  })

  test("that are none are refused at once", () => {
    const model = scriptedModel(["ok"])
    assert.throws(() => createAgent({ model, limits: { calls: -1 } }), ConfigError)
    assert.throws(() => createAgent({ model, limits: { callsByName: { wipe: -1 } } }), ConfigError)
    for (const options of [
      { maxCalls: 1.5 },
      { maxCalls: -1 },
      { timeoutMs: 0 },
      { approve: "yes" as unknown as true },
    ]) {
      assert.throws(() => fn(() => 1, options), ConfigError)
      assert.throws(() => variable(new Meter(), { guard: { read: options } }), ConfigError)
    }
    for (const options of [{ approve: true }, { approve: () => false }, { maxCalls: 0 }, { timeoutMs: 5 }]) {
      assert.throws(() => fn(() => 1, { ...options, sync: true }), /cannot hold/)
    }
    fn(() => 1, { sync: true, approve: false })
  })
})
