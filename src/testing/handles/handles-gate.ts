// Cases of the handle suite: every call of a cell passes the call gate of that cell once, with its call options.
import assert from "node:assert/strict"
import { fn } from "../../runtime/bindings.ts"
import type { CallGate } from "../../runtime/runtime.ts"
import { defineCase } from "./handles-case.ts"

const deny: CallGate = () => Promise.reject(new Error("not approved"))

export const gateCases = {
  250: defineCase("the gate sees functions, methods and constructors, in order and with their arguments", {
    host: () => ({ add: (a: number, b: number) => a + b, light: new Light(), Light }),
    typescript: "await $add(1, 2)\nawait $light.dim(5)\nconst made = await new $Light()\nawait made.dim(6)\n1",
    python: "$add(1, 2)\n$light.dim(5)\nmade = $Light()\nmade.dim(6)\n1",
    holds({ calls }) {
      assert.deepEqual(
        calls.map(({ args }) => args),
        [[1, 2], [5], [], [6]],
      )
      assert.deepEqual(
        calls.slice(0, 2).map(({ binding, method }) => [binding, method]),
        [
          ["add", undefined],
          ["light", "dim"],
        ],
      )
      assert.deepEqual([calls[2]?.binding, calls[3]?.method], ["Light", "dim"])
      assert.equal(new Set(calls.map(({ id }) => id)).size, 4)
    },
  }),
  251: defineCase("reading and writing fields passes no gate", {
    host: () => ({ light: new Light() }),
    gate: deny,
    typescript: "$light.level = 3\nawait $light.level",
    value: 3,
    holds: ({ calls }) => assert.deepEqual(calls, []),
  }),
  252: defineCase("a call that the gate refuses is not made, and the cell sees why", {
    host: () => ({ light: new Light(), wipe: () => "wiped" }),
    gate: deny,
    typescript: ["await $light.dim(9)", "await $wipe()"],
    python: ["$light.dim(9)", "$wipe()"],
    errors: /not approved/,
    holds: ({ host: { light } }) => assert.equal(light.level, 1),
  }),
  253: defineCase("the gate receives the options of a function: approval, number of calls and time", {
    host: () => ({}),
    inject: () => ({ act: fn(() => 1, { approve: true, maxCalls: 3, timeoutMs: 5000, idempotent: true }) }),
    typescript: "await $act()",
    holds({ calls: [call] }) {
      const { approve, maxCalls, timeoutMs, idempotent } = call ?? assert.fail("no call")
      assert.deepEqual(
        { approve, maxCalls, timeoutMs, idempotent },
        { approve: true, maxCalls: 3, timeoutMs: 5000, idempotent: true },
      )
    },
  }),
  254: defineCase("an approval that is a function of the call gets the call", {
    inject: () => ({ pay: fn((n: number) => n, { approve: ({ args: [n] }) => Number(n) > 10 }) }),
    async gate(call, next) {
      if (typeof call.approve === "function" && (await call.approve(call))) throw new Error("not approved")
      return next()
    },
    typescript: ["await $pay(5)", "await $pay(50)"],
    python: ["$pay(5)", "$pay(50)"],
    error: /not approved/,
  }),
  255: defineCase("input that does not fit the schema is refused before the gate is asked", {
    inject: () => ({ pay: fn(({ n }: { n: number }) => n, { input: amount }) }),
    typescript: "await $pay({ n: 'much' })",
    python: "$pay({'n': 'much'})",
    error: /Invalid input of pay/,
    holds: ({ called }) => assert.deepEqual(called, []),
  }),
  256: defineCase("the gate comes before the function, and goes on after it with the result", {
    host: () => {
      const order: string[] = []
      const act = () => {
        order.push("made")
        return "result"
      }
      return { order, act }
    },
    inject: ({ act, order }) => ({
      act: fn(act, { description: "acts" }),
      note: (text: string) => void order.push(text),
    }),
    async gate({ binding }, next) {
      const result = await next()
      return binding.startsWith("act") ? `gate saw ${result}` : result
    },
    typescript: "await $note('before')\nconst got = await $act()\nawait $note('after')\ngot",
    python: "$note('before')\ngot = $act()\n$note('after')\ngot",
    value: "gate saw result",
    holds: ({ host: { order } }) => assert.deepEqual(order, ["before", "made", "after"]),
  }),
  257: defineCase("the gate may change the arguments of a method", {
    host: () => ({ light: new Light() }),
    gate: (_, next) => next({ args: [42] }),
    typescript: "await $light.dim(1)",
    value: 42,
    holds: ({ host: { light } }) => assert.equal(light.level, 42),
  }),
  258: defineCase("calls that are made together are under way together", {
    host: () => {
      const all = Promise.withResolvers<void>()
      let waiting = 0
      const meet = async (n: number) => {
        if (++waiting === 3) all.resolve()
        await all.promise
        return n
      }
      return { meet }
    },
    typescript: "await Promise.all([$meet(1), $meet(2), $meet(3)])",
    python:
      "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    met = list(pool.map($meet, [1, 2, 3]))\nmet",
    value: [1, 2, 3],
  }),
  259: defineCase("a method of an object that a call returned passes the gate", {
    host: () => ({ open: () => new Light() }),
    typescript: "const opened = await $open()\nawait opened.dim(4)",
    python: "opened = $open()\nopened.dim(4)",
    value: 4,
    holds: ({ calls }) => assert.deepEqual([calls.length, calls[1]?.method, calls[1]?.args], [2, "dim", [4]]),
  }),
  260: defineCase("a method reached over a path passes the gate, once and by its name", {
    host: () => ({ house: { enter: () => 1, light: new Light() } }),
    typescript: "await $house.light.dim(3)",
    value: 3,
    holds: ({ called }) => {
      assert.equal(called.length, 1)
      assert.match(called[0] ?? "", /\.dim$/)
    },
  }),
  261: defineCase("each cell's calls are judged by the gate of that cell", {
    host: () => ({ act: (n: number) => n }),
    typescript: "1",
    async holds({ run }) {
      const [first, second]: [unknown[], unknown[]] = [[], []]
      const cell = (n: number) => ({ typescript: `await $act(${n})`, python: `$act(${n})` })
      await Promise.all([
        run(cell(1), { callGate: recordingGate(first) }),
        run(cell(2), { callGate: recordingGate(second) }),
        run(cell(3), { callGate: recordingGate(first) }),
      ])
      assert.deepEqual([first, second], [[1, 3], [2]])
    },
  }),
  262: defineCase("a call that a timer or thread of an ended cell makes is judged by the gate of its own cell", {
    host: () => ({ act: (n: number) => n }),
    typescript: "1",
    async holds({ run, value }) {
      const [first, second]: [unknown[], unknown[]] = [[], []]
      await value(callAcrossCells, { callGate: recordingGate(first) })
      await run(
        {
          typescript: "signal.resolve()\nawait finished.promise\nawait $act(2)",
          python: "signal.set()\nfinished.wait(10)\n$act(2)",
        },
        { callGate: recordingGate(second) },
      )
      assert.deepEqual([first, second], [[1], [2]])
    },
  }),
  263: defineCase("a call left behind that its own gate refuses is not made", {
    host: () => {
      const made: number[] = []
      return { made, act: (n: number) => void made.push(n) }
    },
    inject: ({ act }) => ({ act }),
    typescript: "1",
    async holds({ run, value, host: { made } }) {
      await value(callAcrossCells, { callGate: deny })
      await run({
        typescript: "signal.resolve()\nawait finished.promise",
        python: "signal.set()\nfinished.wait(10)\n0",
      })
      assert.deepEqual(made, [])
    },
  }),
  264: defineCase("a function of an earlier cell that a later cell calls is judged by the gate of the later cell", {
    host: () => ({ act: (n: number) => n }),
    typescript: "const wrapped = (n) => $act(n)\n1",
    python: "wrapped = lambda n: $act(n)\n1",
    async holds({ run, calls }) {
      const later = await run({ typescript: "await wrapped(1)", python: "wrapped(1)" }, { callGate: deny })
      assert.ok(!later.ok)
      assert.equal(calls.length, 1)
    },
  }),
  265: defineCase("a call has a signal that fires when its cell is aborted", {
    host: () => ({ started: Promise.withResolvers<AbortSignal>() }),
    inject: () => ({ wait: () => new Promise(() => {}) }),
    typescript: "1",
    async holds({ run, host: { started } }) {
      const controller = new AbortController()
      const running = run(
        { typescript: "await $wait()", python: "$wait()" },
        {
          signal: controller.signal,
          callGate(call, next) {
            started.resolve(call.signal)
            return next()
          },
        },
      )
      const signal = await Promise.race([started.promise, running.then(() => assert.fail("The call was not made."))])
      controller.abort()
      const execution = await running
      assert.ok(!execution.ok && signal.aborted)
      assert.equal(execution.error.kind, "aborted")
    },
  }),
} as const

// A call that waits until the next cell has started.
const callAcrossCells = {
  typescript:
    "const signal = Promise.withResolvers()\nconst finished = Promise.withResolvers()\nsignal.promise.then(() => $act(1)).then(finished.resolve, finished.resolve)\n1",
  python:
    "import threading\nsignal = threading.Event()\nfinished = threading.Event()\ndef work():\n    signal.wait(10)\n    try:\n        $act(1)\n    except Exception:\n        pass\n    finished.set()\nthreading.Thread(target=work).start()\n1",
}

const amount = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }

/** Returns a call gate that allows every call and records its first argument. */
function recordingGate(list: unknown[]): CallGate {
  return (call, next) => {
    list.push(call.args[0])
    return next()
  }
}

class Light {
  level = 1
  dim(to: number) {
    this.level = to
    return to
  }
}
