// Cases of the runtime suite: calls of host functions, each of which passes the call gate of its cell exactly once.
import assert from "node:assert/strict"
import { currentCall } from "../../runtime/bindings/gated-call.ts"
import { fn, variable } from "../../runtime/bindings.ts"
import type { CallGate, RuntimeCall } from "../../runtime/runtime.ts"
import { type Code, runtimeCase, sameInBoth } from "./runtime-case.ts"

export const callCases = {
  "gate-sequence": runtimeCase("the gate sees every call, in order, with its arguments", async (trial) => {
    await trial.runtime.inject({ add, wipe: fn(() => "wiped", { approve: true }) })
    const { gate, calls } = recordingGate()
    const code = {
      typescript: "const one = await add(1, 2)\nconst two = await add(one, 3)\nawait wipe()\ntwo",
      python: "one = add(1, 2)\ntwo = add(one, 3)\nwipe()\ntwo",
    }
    assert.equal(await trial.value(code, { callGate: gate }), 6)
    assert.deepEqual(
      calls.map(({ binding, args, approve }) => [binding, args, approve]),
      [
        ["add", [1, 2], false],
        ["add", [3, 3], false],
        ["wipe", [], true],
      ],
    )
    assert.equal(new Set(calls.map(({ id }) => id)).size, 3)
    assert.ok(calls.every(({ signal }) => signal instanceof AbortSignal && !signal.aborted))
  }),

  "gate-parallel": runtimeCase(
    "calls made together are all under way together, and each gets its own answer",
    async (trial) => {
      await trial.runtime.inject({ add })
      const all = Promise.withResolvers<void>()
      let waiting = 0
      const gate: CallGate = async ({ args: [a = 0] }, next) => {
        if (++waiting === 3) all.resolve()
        await all.promise
        // Answers the calls in reverse order.
        for (let turn = 3 - Number(a); turn > 0; turn--) await new Promise(setImmediate)
        return next()
      }
      const code = {
        typescript: "await Promise.all([add(0, 1), add(1, 1), add(2, 1)])",
        python:
          "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n" +
          "    sums = list(pool.map(add, [0, 1, 2], [1, 1, 1]))\nsums",
      }
      assert.deepEqual(await trial.value(code, { callGate: gate, timeoutMs: 20_000 }), [1, 2, 3])
    },
  ),

  "gate-closures": runtimeCase(
    "a call from a function of an older cell passes the gate of the cell that runs",
    async (trial) => {
      await trial.runtime.inject({ add })
      const [first, second] = [recordingGate(), recordingGate()]
      const define = {
        typescript: "const twice = (x) => add(x, x)\nconst alias = add\nawait twice(1)",
        python: "def twice(x): return add(x, x)\nalias = add\ntwice(1)",
      }
      const use = {
        typescript: "[await twice(2), await alias(1, 2)]",
        python: "[twice(2), alias(1, 2)]",
      }
      assert.equal(await trial.value(define, { callGate: first.gate }), 2)
      assert.deepEqual(await trial.value(use, { callGate: second.gate }), [4, 3])
      assert.deepEqual(
        [first.calls, second.calls].map((calls) => calls.map(({ args }) => args)),
        [
          [[1, 1]],
          [
            [2, 2],
            [1, 2],
          ],
        ],
      )
      assert.deepEqual(await trial.value(use), [4, 3])
      assert.equal(second.calls.length, 2)
    },
  ),

  "gate-methods": runtimeCase("the gate sees calls of methods of objects that live with the host", async (trial) => {
    await trial.runtime.inject({ counter: new Counter() })
    const { gate, calls } = recordingGate()
    const code = { typescript: "await counter.up(2)\nawait counter.up(3)", python: "counter.up(2)\ncounter.up(3)" }
    assert.equal(await trial.value(code, { callGate: gate }), 5)
    assert.deepEqual(
      calls.map(({ binding, method, args }) => [binding, method, args]),
      [
        ["counter", "up", [2]],
        ["counter", "up", [3]],
      ],
    )
  }),

  "gate-guards": runtimeCase(
    "the gate receives the options of a guarded method, and the host keeps its own object",
    async (trial) => {
      const counter = new Counter()
      const guard = { up: { approve: true, maxCalls: 2, timeoutMs: 1000 } }
      await trial.runtime.inject({ counter: variable(counter, { guard }) })
      const { gate, calls } = recordingGate()
      assert.equal(
        await trial.value({ typescript: "await counter.up(2)", python: "counter.up(2)" }, { callGate: gate }),
        2,
      )
      const [{ binding, method, approve, maxCalls, timeoutMs } = {}] = calls
      assert.deepEqual([binding, method, approve, maxCalls, timeoutMs], ["counter", "up", true, 2, 1000])
      assert.equal(await trial.runtime.retrieve("counter"), counter)
      assert.equal(counter.count, 2)
    },
  ),

  "gate-changes": runtimeCase("the gate may make a call with other arguments and another signal", async (trial) => {
    const { signal } = new AbortController()
    let heard: AbortSignal | undefined
    await trial.runtime.inject({
      double(n: number) {
        heard = currentCall()?.signal
        return n * 2
      },
    })
    const call: CallGate = (_call, next) => next({ args: [21], signal })
    assert.equal(await trial.value({ typescript: "await double(1)", python: "double(1)" }, { callGate: call }), 42)
    assert.equal(heard, signal)
  }),

  "gate-decides": runtimeCase(
    "the gate may refuse a call or change its result, and the cell sees that",
    async (trial) => {
      let made = 0
      await trial.runtime.inject({ wipe: () => ++made })
      const wipe = { typescript: "await wipe()", python: "wipe()" }
      const refused = await trial.failed(wipe, { callGate: () => Promise.reject(new Error("not allowed here")) })
      assert.equal(refused.error.kind, "throw")
      assert.match(refused.error.message, /not allowed here/)
      assert.equal(made, 0)
      assert.equal(await trial.value(wipe, { callGate: async (_, next) => Number(await next()) * 100 }), 100)
      assert.equal(made, 1)
    },
  ),

  "call-errors": runtimeCase(
    "a cell can catch an error that a host function throws, with its name and message",
    async (trial) => {
      await trial.runtime.inject({
        fail() {
          throw new RangeError("no such task")
        },
        failLater: async () => {
          throw new TypeError("not today")
        },
      })
      const uncaught = await trial.failed({ typescript: "1\nawait fail()", python: "1\nfail()" })
      assert.match(uncaught.error.message, /RangeError: no such task/)
      const code = {
        typescript: "let said\ntry { await failLater() } catch (error) { said = String(error) }\nsaid",
        python: "try:\n    failLater()\nexcept Exception as error:\n    said = str(error)\nsaid",
      }
      assert.match(String(await trial.value(code)), /not today/)
      assert.equal(await trial.value(sameInBoth("'alive'")), "alive")
    },
  ),

  "call-error-lines": runtimeCase(
    "an error that a function or method of the host throws has the line of the cell that called it",
    async (trial) => {
      const failing = async () => {
        await new Promise(setImmediate)
        throw new Error("out of order")
      }
      class Device {
        start() {
          throw new Error("no power")
        }
      }
      await trial.runtime.inject({ failing, device: new Device() })
      const calls: [Code, RegExp][] = [
        [{ typescript: "\n\nawait failing()", python: "\n\nfailing()" }, /out of order/],
        [{ typescript: "\n\nawait device.start()", python: "\n\ndevice.start()" }, /no power/],
      ]
      for (const [code, expected] of calls) {
        const { error } = await trial.failed(code)
        assert.match(error.message, expected)
        assert.equal(error.line, 3, code[trial.language])
      }
    },
  ),

  "call-many": runtimeCase("many calls in one cell all arrive, in order", async (trial) => {
    const seen: unknown[] = []
    await trial.runtime.inject({ note: (n: number) => void seen.push(n) })
    await trial.ran({
      typescript: "for (let i = 0; i < 200; i++) await note(i)",
      python: "for i in range(200): note(i)",
    })
    assert.deepEqual(
      seen,
      Array.from({ length: 200 }, (_, i) => i),
    )
  }),

  "call-with-host-objects": runtimeCase(
    "a host object that a cell passes to a function arrives as the same object",
    async (trial) => {
      const counter = new Counter()
      const given: unknown[] = []
      await trial.runtime.inject({ counter, take: (...things: unknown[]) => void given.push(...things) })
      await trial.ran({ typescript: "await take(counter, [counter])", python: "take(counter, [counter])" })
      assert.equal(given[0], counter)
      assert.ok(Array.isArray(given[1]))
      assert.equal(given[1][0], counter)
    },
  ),

  "call-results-with-behaviour": runtimeCase(
    "a cell can use an object with behaviour that a function returns",
    async (trial) => {
      const made: Counter[] = []
      const open = () => {
        const counter = new Counter()
        made.push(counter)
        return counter
      }
      await trial.runtime.inject({ open })
      const code = {
        typescript: "const opened = await open()\nawait opened.up(4)\nawait opened.up(1)",
        python: "opened = open()\nopened.up(4)\nopened.up(1)",
      }
      assert.equal(await trial.value(code), 5)
      assert.equal(made[0]?.count, 5)
    },
  ),

  "calls-settle": runtimeCase(
    "a cell ends when the calls it made have ended, also those it did not wait for",
    async (trial) => {
      const done: string[] = []
      const slow = async (name: string) => {
        // Longer than a cell takes that does not wait.
        await new Promise((resolve) => setTimeout(resolve, 100))
        done.push(name)
      }
      await trial.runtime.inject({ slow })
      await trial.ran({ typescript: "slow('a')\nslow('b')\n0", python: "slow('a')\nslow('b')\n0" })
      assert.deepEqual(done, ["a", "b"])
    },
  ),
}

const add = (a: number, b: number) => a + b

class Counter {
  count = 0
  up(by: number) {
    this.count += by
    return this.count
  }
}

/** Returns a call gate that allows and records every call. */
function recordingGate(): { gate: CallGate; calls: RuntimeCall[] } {
  const calls: RuntimeCall[] = []
  return {
    calls,
    gate(call, next) {
      calls.push(call)
      return next()
    },
  }
}
