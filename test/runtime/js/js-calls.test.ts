import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { test } from "node:test"
import { z } from "zod"
import { ConfigError } from "../../../src/core/errors.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { CallGate, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { settle } from "../cell-results.ts"

const add = (a: number, b: number) => a + b

/** A gate that makes every call and records it. */
function watching(): { gate: CallGate; calls: RuntimeCall[] } {
  const calls: RuntimeCall[] = []
  return {
    calls,
    gate: (call, next) => {
      calls.push(call)
      return next()
    },
  }
}

test("a gate sees each call: from old closures, in parallel, after awaits, in timers", async () => {
  const runtime = jsRuntime({ add })
  await runtime.execute("const twice = (x) => add(x, x); const alias = add")
  const { gate, calls } = watching()
  const execution = await runtime.execute(
    `const direct = await add(1, 2)
     const closure = await twice(3)
     const parallel = await Promise.all([add(1, 1), alias(2, 2), twice(4)])
     await new Promise((go) => setTimeout(go, 1))
     const after = await [5].map((x) => add(x, 0))[0]
     const timed = await new Promise((go) => setTimeout(() => go(add(6, 0)), 1))
     ;[direct, closure, ...parallel, after, timed]`,
    { callGate: gate },
  )
  assert.ok(execution.ok, execution.ok ? "" : execution.error.message)
  assert.deepEqual(execution.value, [3, 6, 2, 4, 8, 5, 6])
  assert.deepEqual(
    calls.map(({ binding, args }) => [binding, args]),
    [
      ["add", [1, 2]],
      ["add", [3, 3]],
      ["add", [1, 1]],
      ["add", [2, 2]],
      ["add", [4, 4]],
      ["add", [5, 0]],
      ["add", [6, 0]],
    ],
  )
  assert.equal(new Set(calls.map((call) => call.id)).size, 7)
  assert.ok(calls.every((call) => call.signal instanceof AbortSignal && call.approve === false))
})

test("each execution has its own gate", async () => {
  const runtime = jsRuntime({ add })
  const [one, two] = [watching(), watching()]
  await runtime.execute("const f = () => add(1, 1); await f()", { callGate: one.gate })
  await runtime.execute("await f()", { callGate: two.gate })
  await runtime.execute("await f()")
  assert.deepEqual([one.calls.length, two.calls.length], [1, 1])
})

test("a cell within a cell passes the gate of the outer one, unless it has its own", async () => {
  const inner = jsRuntime({ add })
  const own = watching()
  const outer = jsRuntime({
    nested: () => inner.execute("await add(1, 1)"),
    guarded: () => inner.execute("await add(2, 2)", { callGate: own.gate }),
  })
  const { gate, calls } = watching()
  await outer.execute("await nested(); await guarded()", { callGate: gate })
  assert.deepEqual(
    calls.map((call) => call.binding),
    ["nested", "add", "guarded"],
  )
  assert.deepEqual(own.calls[0]?.args, [2, 2])
})

test("a host function that takes the place of a cell's passes the gate too", async () => {
  const runtime = jsRuntime()
  await runtime.execute("function work() { return 'cell' }")
  const work = () => "host"
  await runtime.update({ work })
  const { gate, calls } = watching()
  const execution = await runtime.execute("await work()", { callGate: gate })
  assert.ok(execution.ok && execution.value === "host")
  assert.equal(calls.length, 1)
  assert.equal(await runtime.retrieve("work"), work)
})

test("a leftover of an ended cell passes the gate of that cell", async () => {
  const runtime = jsRuntime({ add })
  const { gate, calls } = watching()
  await runtime.execute("const left = new Promise((go) => setTimeout(() => go(add(1, 2)), 5)); 0", { callGate: gate })
  const execution = await runtime.execute("await left")
  assert.ok(execution.ok && execution.value === 3)
  assert.equal(calls.length, 1)
})

test("a listener that a cell gave the host passes the gate of the newest cell", async () => {
  const emitter = new EventEmitter()
  let wiped = 0
  const runtime = jsRuntime({ emitter, wipe: fn(() => ++wiped, { approve: true }) })
  const refuse: CallGate = () => Promise.reject(new Error("not allowed"))
  await runtime.execute("const said = []; emitter.on('go', () => wipe().catch((error) => said.push(error.message)))", {
    callGate: refuse,
  })
  emitter.emit("go")
  await settle()
  assert.equal(wiped, 0)
  assert.deepEqual(await retrieveAny(runtime, "said"), ["not allowed"])
})

test("a function binding gives a promise, also when the function does not", async () => {
  const runtime = jsRuntime({ add })
  const execution = await runtime.execute("const result = add(1, 2); [result instanceof Promise, await result]")
  assert.ok(execution.ok)
  assert.deepEqual(execution.value, [true, 3])
})

test("what the function throws is thrown in the cell, by reference", async () => {
  const failure = new RangeError("no such task")
  const runtime = jsRuntime({
    fail: () => {
      throw failure
    },
  })
  const execution = await runtime.execute("await fail().catch((error) => error)")
  assert.ok(execution.ok)
  assert.equal(execution.value, failure)
})

test("a gate may refuse, change the result or fail, and may call next once", async () => {
  const runtime = jsRuntime({ add })
  const refused = await runtime.execute("await add(1, 2)", { callGate: () => Promise.reject(new Error("not allowed")) })
  assert.ok(!refused.ok)
  assert.equal(refused.error.message, "Error: not allowed")
  const changed = await runtime.execute("await add(1, 2)", { callGate: async (_, next) => Number(await next()) * 100 })
  assert.ok(changed.ok && changed.value === 300)
  const twice = await runtime.execute("await add(1, 2)", { callGate: async (_, next) => [await next(), await next()] })
  assert.ok(!twice.ok)
  assert.match(twice.error.message, /twice/)
})

test("whether a binding asks for approval is told to the gate", async () => {
  const runtime = jsRuntime({ wipe: fn(() => 1, { approve: true }) })
  const { gate, calls } = watching()
  await runtime.execute("await wipe()", { callGate: gate })
  assert.equal(calls[0]?.approve, true)
})

test("a sync function is called straight, and cannot ask for approval", async () => {
  const runtime = jsRuntime({ add: fn(add, { sync: true }) })
  const { gate, calls } = watching()
  const execution = await runtime.execute("add(1, 2)", { callGate: gate })
  assert.ok(execution.ok && execution.value === 3)
  assert.equal(calls.length, 0)
  assert.throws(() => fn(add, { sync: true, approve: true }), ConfigError)
})

test("functions are called without this, and cannot be constructed round the gate", async () => {
  const seen: unknown[] = []
  function host(this: unknown) {
    seen.push(this)
  }
  const runtime = jsRuntime({ host })
  await runtime.execute("await host(); const box = { host }; await box.host()")
  assert.deepEqual(seen, [undefined, undefined])
  const execution = await runtime.execute("new host()")
  assert.ok(!execution.ok)
  assert.match(execution.error.message, /not a constructor/)
})

test("methods of injected objects are the real ones", async () => {
  const runtime = jsRuntime({
    counter: {
      n: 0,
      up() {
        return ++this.n
      },
    },
  })
  const { gate, calls } = watching()
  const execution = await runtime.execute("counter.up() + counter.up()", { callGate: gate })
  assert.ok(execution.ok && execution.value === 3)
  assert.equal(calls.length, 0)
})

test("an agent is a name like any other, behind which is the host's own", async () => {
  const agent = { name: "cleaner", run() {}, session() {}, describe() {}, with() {} }
  const runtime = jsRuntime({ agent })
  const execution = await runtime.execute("const other = agent\n;[typeof agent.run, 'with' in agent, agent === other]")
  assert.ok(execution.ok)
  assert.deepEqual(execution.value, ["function", false, true])
  assert.equal(await runtime.retrieve("agent"), agent)
  assert.equal(await retrieveAny(runtime, "other"), agent)
  assert.deepEqual(
    (await runtime.names()).map(({ kind }) => kind),
    ["agent", "agent"],
  )
})

test("arguments are validated and given as validated", async () => {
  const one = fn((task: { name: string; hours: number }) => task, {
    input: z.object({ name: z.string(), hours: z.number().default(1) }),
  })
  const all = fn((a: number, b: number) => a + b, { input: z.tuple([z.number(), z.number()]) })
  const plain = fn((text: string) => text, { input: { type: "string", minLength: 2 } })
  const runtime = jsRuntime({ one, all, plain })
  const { gate, calls } = watching()
  const execution = await runtime.execute("[await one({ name: 'a' }), await all(1, 2), await plain('ok')]", {
    callGate: gate,
  })
  assert.ok(execution.ok)
  assert.deepEqual(execution.value, [{ name: "a", hours: 1 }, 3, "ok"])
  assert.deepEqual(calls[0]?.args, [{ name: "a", hours: 1 }])
})

test("bad input is a TypeError that names the path, and no gate is asked", async () => {
  const one = fn((task: object) => task, { input: z.object({ name: z.string() }) })
  const all = fn(add, { input: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], minItems: 2 } })
  const runtime = jsRuntime({ one, all })
  const { gate, calls } = watching()
  const first = await runtime.execute("await one({ name: 1 })", { callGate: gate })
  assert.ok(!first.ok && first.thrown instanceof TypeError)
  assert.match(first.error.message, /^TypeError: Invalid input of one: name: .*string/)
  const second = await runtime.execute("await all(1, 'x')", { callGate: gate })
  assert.ok(!second.ok)
  assert.equal(second.error.message, "TypeError: Invalid input of all: [1]: expected number, received string")
  assert.equal(calls.length, 0)
})

test("a sync function may validate its input, at once", async () => {
  const runtime = jsRuntime({
    add: fn(add, { sync: true, input: z.tuple([z.number(), z.number()]) }),
    slow: fn(add, { sync: true, input: z.tuple([z.number(), z.number().refine(async () => true)]) }),
  })
  const execution = await runtime.execute(
    "let why; try { add('x', 1) } catch (error) { why = error.message }; [add(1, 2), why]",
  )
  assert.ok(execution.ok)
  assert.match(String(execution.value), /^3,Invalid input of add: \[0\]: /)
  const slow = await runtime.execute("slow(1, 2)")
  assert.ok(!slow.ok)
})

test("a cell ends when the calls it started have settled, also those it forgot to await", async () => {
  const story: string[] = []
  const runtime = jsRuntime({
    slow: async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      story.push(name)
    },
  })
  await runtime.execute("slow('a'); slow('b').then(() => slow('c')); 0")
  assert.deepEqual(story, ["a", "b", "c"])
})
