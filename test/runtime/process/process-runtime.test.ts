// test lane: runtimes
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { test } from "node:test"
import { z } from "zod"
import { AgentError, ConfigError, UnsupportedError } from "../../../src/core/errors.ts"
import { fn, variable } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import { functionRule } from "../../../src/runtime/rules/rules.ts"
import type { CallGate, CellOutput, RuntimeCall } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { withEnoughTime } from "../../waiting.ts"
import { cellValue, errorOf } from "../cell-results.ts"

const add = (a: number, b: number) => a + b

test("names persist from cell to cell, and may be declared again", async () => {
  await using runtime = processRuntime()
  await cellValue(runtime, "const x = 1; let y = 2; function f() { return x + y }")
  assert.equal(await cellValue(runtime, "f()"), 3)
  assert.equal(await cellValue(runtime, "const x: number = 10; f()"), 12)
})

test("an execution tells value, preview, output, changes and duration", async () => {
  await using runtime = processRuntime()
  const execution = await runtime.execute("console.log('out'); console.error('err'); const made = [1]; made")
  assert.ok(execution.ok)
  assert.deepEqual(execution.value, [1])
  assert.equal(execution.preview, "[ 1 ]")
  assert.equal(execution.stdout, "out\n")
  assert.equal(execution.stderr, "err\n")
  assert.equal(execution.output, "out\nerr\n")
  assert.deepEqual(execution.changes, { created: ["made"], reassigned: [], removed: [] })
  assert.ok(execution.durationMs > 0)
})

test("a cell that throws tells where, and the error crosses with its class", async () => {
  await using runtime = processRuntime()
  const execution = await runtime.execute("const fine = 1\nthrow new RangeError('too far')")
  const error = errorOf(execution)
  assert.equal(error.kind, "throw")
  assert.match(error.message, /RangeError: too far/)
  assert.equal(error.line, 2)
  assert.ok(!execution.ok && execution.thrown instanceof RangeError)
  assert.equal(await cellValue(runtime, "fine"), 1)
})

test("what is no TypeScript is a syntax error with its place", async () => {
  await using runtime = processRuntime()
  const error = errorOf(await runtime.execute("const a = 1\nconst = 2"))
  assert.equal(error.kind, "syntax")
  assert.equal(error.line, 2)
})

test("rules are checked before the code gets to its process", async () => {
  await using runtime = processRuntime({}, { rules: [functionRule(["eval"])] })
  assert.equal(errorOf(await runtime.execute("eval('1')")).kind, "security")
  assert.equal(errorOf(await runtime.execute("const = ")).kind, "syntax")
  assert.equal(await cellValue(runtime, "1 + 1"), 2)
})

test("output streams while the cell runs", async () => {
  await using runtime = processRuntime({ wait: () => seen })
  const chunks: CellOutput[] = []
  let first = () => {}
  const seen = new Promise<void>((resolve) => {
    first = resolve
  })
  const output = (chunk: CellOutput) => {
    chunks.push(chunk)
    first()
  }
  await cellValue(runtime, "console.log('one'); await wait(); console.error('two')", { onOutput: output })
  assert.deepEqual(chunks, [
    { stream: "stdout", text: "one\n" },
    { stream: "stderr", text: "two\n" },
  ])
})

test("injected values and functions are there, and later ones too", async () => {
  await using runtime = processRuntime({ add, rows: [{ a: 1 }] })
  assert.deepEqual(await cellValue(runtime, "[await add(1, 2), rows[0].a]"), [3, 1])
  await runtime.inject({ factor: 3, twice: (x: number) => x * 2 })
  assert.equal(await cellValue(runtime, "await twice(factor)"), 6)
})

test("what is injected while the process starts is there", async () => {
  await using runtime = processRuntime({ a: 1 })
  const first = runtime.execute("a")
  await runtime.inject({ b: 2 })
  await first
  assert.equal(await cellValue(runtime, "a + b"), 3)
})

test("a name that is taken, reserved or no identifier is refused with all the others", async () => {
  await using runtime = processRuntime({ a: 1 })
  await cellValue(runtime, "const made = 1")
  await assert.rejects(runtime.inject({ fresh: 1, a: 2 }), ConfigError)
  await assert.rejects(runtime.inject({ fresh: 1, made: 2 }), ConfigError)
  await assert.rejects(runtime.inject({ fresh: 1, "not a name": 2 }), ConfigError)
  await assert.rejects(runtime.inject({ fresh: 1, console: 2 }), ConfigError)
  assert.equal(await cellValue(runtime, "typeof fresh"), "undefined")
  assert.throws(() => processRuntime({ class: 1 }), ConfigError)
})

test("promises, symbols and sync functions cannot be injected", () => {
  assert.throws(() => processRuntime({ later: Promise.resolve(1) }), /later.*promise: await it/)
  assert.throws(() => processRuntime({ rows: [{ key: Symbol("k") }] }), /rows\[0\]\.key is Symbol\(k\)/)
  assert.throws(() => processRuntime({ rows: [{ later: Promise.resolve(1) }] }), /rows\[0\]\.later is a promise/)
  assert.throws(() => processRuntime({ now: fn(() => 1, { sync: true }) }), /only jsRuntime/)
})

test("update gives names new values, of the host's and of cells", async () => {
  await using runtime = processRuntime({ rows: [1], add })
  await cellValue(runtime, "let own = 1")
  await runtime.update({ rows: [2], own: 5, add: (a: number, b: number) => a * b })
  assert.deepEqual(await cellValue(runtime, "[rows, own, await add(3, 4)]"), [[2], 5, 12])
  await assert.rejects(runtime.update({ missing: 1 }), ConfigError)
  await assert.rejects(runtime.update({ add: 1 }), /function and cannot become a variable/)
})

test("retrieve gives what cells made, and names what there is when there is no such name", async () => {
  await using runtime = processRuntime({ a: 1 })
  await cellValue(runtime, "const list = [1, { deep: new Map([['k', new Set([1n])]]) }]")
  assert.deepEqual(await retrieveAny(runtime, "list"), [1, { deep: new Map([["k", new Set([1n])]]) }])
  await assert.rejects(retrieveAny(runtime, "nothing"), (error) => {
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /no "nothing".*"a", "list"/)
    return true
  })
  await cellValue(runtime, "globalThis.later = Promise.resolve(1); undefined")
  await assert.rejects(retrieveAny(runtime, "later"), /promise: await it in a cell first/)
})

test("retrieve validates with a schema", async () => {
  await using runtime = processRuntime({ n: "five" })
  assert.equal(await runtime.retrieve("n", z.string()), "five")
  await assert.rejects(runtime.retrieve("n", z.number()), AgentError)
})

test("names tells kinds, types and sizes of all there is", async () => {
  class Light {}
  await using runtime = processRuntime({ add, light: new Light(), rows: [1, 2] })
  await cellValue(runtime, "const text = 'abc'")
  assert.deepEqual(await runtime.names(), [
    { name: "add", kind: "function", type: "(a, b) => …", injected: true },
    { name: "light", kind: "variable", type: "Light", injected: true },
    { name: "rows", kind: "variable", type: "number[]", injected: true, size: 2 },
    { name: "text", kind: "variable", type: "string", injected: false, size: 3 },
  ])
})

test("keep binds a value under a fresh name", async () => {
  await using runtime = processRuntime()
  assert.equal(await runtime.keep("output", "long"), "output_1")
  assert.equal(await runtime.keep("output", [1]), "output_2")
  assert.deepEqual(await cellValue(runtime, "[output_1, output_2]"), ["long", [1]])
})

test("reset starts another process if a cell replaced functions of the platform in the old one", async () => {
  await using runtime = processRuntime({ add: (a: number, b: number) => a + b, lamp: new (class Lamp {})() })
  await runtime.execute("const made = 1\nMap.prototype.get = () => undefined\nundefined")
  await runtime.reset()
  const execution = await runtime.execute("await add(1, 2)")
  assert.ok(execution.ok)
  assert.deepEqual([execution.value, execution.lost], [3, undefined])
})

test("reset empties the namespace and binds again what the host has", async () => {
  await using runtime = processRuntime({ rows: [1], add })
  await cellValue(runtime, "rows.push(2); const own = 1")
  await runtime.reset()
  assert.deepEqual(await cellValue(runtime, "[rows, typeof own, await add(1, 1)]"), [[1], "undefined", 2])
})

test("cells run one after the other, in the order they came", async () => {
  await using runtime = processRuntime()
  await cellValue(runtime, "const order = []; const tick = () => new Promise((go) => setTimeout(go, 1))")
  await Promise.all(
    [1, 2, 3].map((n) => runtime.execute(`order.push('in ${n}'); await tick(); order.push('out ${n}')`)),
  )
  assert.deepEqual(await runtime.retrieve("order"), ["in 1", "out 1", "in 2", "out 2", "in 3", "out 3"])
})

test("a cell started from within a running cell is let in", async () => {
  await using runtime = processRuntime({ nested: (code: string) => runtime.execute(code).then((made) => made.ok) })
  assert.equal(await cellValue(runtime, "await nested('const inner = 5') && inner"), 5)
})

test("an abort stops a loop that never waits, with the names kept, as a time-out does", async () => {
  let controller = new AbortController()
  await using runtime = processRuntime({ abortSoon: () => void setTimeout(() => controller.abort(), 100) })
  await runtime.execute("const kept = [1, 2]; let rounds = 0")
  for (const loop of ["while (true) rounds++", "const spin = () => { for (;;) JSON.parse('[1]') }; spin()"]) {
    controller = new AbortController()
    const stopped = await runtime.execute(`await abortSoon(); ${loop}`, { signal: controller.signal })
    assert.equal(errorOf(stopped).kind, "aborted")
    assert.equal(stopped.lost, undefined)
    assert.equal(await cellValue(runtime, "kept.length"), 2)
  }
  assert.ok(Number(await cellValue(runtime, "rounds")) > 0)
})

test("an aborted cell leaves the queue, and one under way is stopped with its names kept", async () => {
  const controller = new AbortController()
  await using runtime = processRuntime({ started: () => controller.abort() })
  await cellValue(runtime, "const kept = 1")
  const first = runtime.execute("await started(); while (true) await null", { signal: controller.signal })
  const second = runtime.execute("1", { signal: controller.signal })
  assert.equal(errorOf(await first).kind, "aborted")
  assert.equal(errorOf(await second).kind, "aborted")
  assert.equal(await cellValue(runtime, "kept"), 1)
})

test("a gate sees each call with its arguments, and what it throws the cell sees", async () => {
  await using runtime = processRuntime({ add: fn(add, { approve: true }) })
  const calls: RuntimeCall[] = []
  const gate: CallGate = (call, next) => {
    calls.push(call)
    if (calls.length > 2) throw new Error("no more")
    return next()
  }
  const code = "const sums = await Promise.all([add(1, 2), add(3, 4)]); sums"
  assert.deepEqual(await cellValue(runtime, code, { callGate: gate }), [3, 7])
  assert.equal(
    await cellValue(runtime, "await add(1, 1).catch((error) => error.message)", { callGate: gate }),
    "no more",
  )
  const seen = calls.map(({ binding, args, approve }) => [binding, args, approve])
  assert.deepEqual(seen, [
    ["add", [1, 2], true],
    ["add", [3, 4], true],
    ["add", [1, 1], true],
  ])
  assert.equal(new Set(calls.map(({ id }) => id)).size, 3)
})

test("calls in parallel are under way together", async () => {
  let waiting = 0
  let open = () => {}
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  const meet = async () => {
    if (++waiting === 3) open()
    await all
    return waiting
  }
  await using runtime = processRuntime({ meet })
  assert.deepEqual(await cellValue(runtime, "await Promise.all([meet(), meet(), meet()])"), [3, 3, 3])
})

test("a call's signal fires when the cell is out of time, by the clock of the host or by that of the child", async (context) => {
  await using runtime = processRuntime({ add })
  await runtime.execute("1")
  // The timers of the host fire only when the test says so. Those of the child are real.
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const run = async (timeoutMs: number, onCall = () => {}) => {
    let isCalled = false
    let fired: unknown
    const call: CallGate = ({ signal }) =>
      new Promise((_, reject) => {
        isCalled = true
        signal.addEventListener("abort", () => {
          fired = signal.reason
          reject(signal.reason)
        })
        onCall()
      })
    const execution = await runtime.execute("await add(1, 2)", { callGate: call, timeoutMs })
    return { isCalled, fired, kind: errorOf(execution).kind }
  }
  const byHost = await run(60_000, () => context.mock.timers.tick(60_000))
  const byChild = await withEnoughTime(run, ({ isCalled }) => isCalled)
  context.mock.timers.reset()
  for (const { kind, fired } of [byHost, byChild]) {
    assert.equal(kind, "timeout")
    assert.ok(fired instanceof Error)
  }
})

test("errors of host functions keep their class, name, message and fields", async () => {
  class Overdrawn extends Error {
    override name = "Overdrawn"
    balance = -5
  }
  await using runtime = processRuntime({
    range: () => {
      throw new RangeError("far")
    },
    overdrawn: () => {
      throw new Overdrawn("no money", { cause: new TypeError("why") })
    },
    odd: () => {
      throw "a string"
    },
  })
  const caught = "const caught = async (f) => { try { await f() } catch (error) { return error } }"
  assert.equal(await cellValue(runtime, `${caught}; (await caught(range)) instanceof RangeError`), true)
  const code =
    "const e = await caught(overdrawn); [e instanceof Error, e.name, e.message, e.balance, e.cause instanceof TypeError]"
  assert.deepEqual(await cellValue(runtime, code), [true, "Overdrawn", "no money", -5, true])
  assert.match(String(await cellValue(runtime, "String(await caught(odd))")), /a string/)
})

test("input schemas are checked on the host", async () => {
  await using runtime = processRuntime({
    greet: fn(({ name }) => `hi ${name}`, { input: z.object({ name: z.string() }) }),
  })
  assert.equal(await cellValue(runtime, "await greet({ name: 'Ada' })"), "hi Ada")
  assert.match(errorOf(await runtime.execute("await greet({ name: 5 })")).message, /Invalid input of greet: name/)
})

test("a cell ends when the calls it forgot to await have ended", async () => {
  let done = false
  await using runtime = processRuntime({
    slow: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      done = true
    },
  })
  await cellValue(runtime, "slow(); 1")
  assert.ok(done)
})

test("a cell in a process within a cell of jsRuntime passes the gate of the outer one", async () => {
  const seen: string[] = []
  await using inner = processRuntime({ add })
  const outer = jsRuntime({ ask: () => cellValue(inner, "await add(2, 3)") })
  const gate: CallGate = (call, next) => {
    seen.push(call.binding)
    return next()
  }
  assert.equal(await cellValue(outer, "await ask()", { callGate: gate }), 5)
  assert.deepEqual(seen, ["ask", "add"])
})

test("the environment is the given one, and nothing of the host's", async () => {
  await using runtime = processRuntime({}, { env: { GIVEN: "yes" } })
  const code = "const { createRequire } = await import('node:module'); Object.keys(createRequire('/')('process').env)"
  const names = await cellValue(runtime, code)
  assert.ok(Array.isArray(names) && names.includes("GIVEN"))
  assert.ok(!names.includes("PATH") && !names.includes("USER"))
  assert.deepEqual(await cellValue(runtime, "process.env"), { GIVEN: "yes" })
  assert.deepEqual(await cellValue(runtime, "process.env", { env: { variables: { A: "b" } } }), { A: "b" })
})

test("what the host alone can do for a cell is refused by name", async () => {
  await using runtime = processRuntime()
  await assert.rejects(runtime.execute("1", { env: { now: () => 0 } }), UnsupportedError)
})

test("cells work in a folder of their own, which goes with the runtime", async () => {
  const runtime = processRuntime()
  const folder = String(
    await cellValue(runtime, "(await import('node:fs')).writeFileSync('a.txt', 'x'); process.cwd()"),
  )
  assert.notEqual(folder, process.cwd())
  assert.ok(existsSync(`${folder}/a.txt`))
  await runtime.close()
  assert.ok(!existsSync(folder))
})

test("a closed runtime refuses everything by name, and closes twice", async () => {
  const runtime = processRuntime({ a: 1 })
  await cellValue(runtime, "a")
  await runtime.close()
  await runtime.close()
  for (const use of [
    () => runtime.execute("1"),
    () => runtime.retrieve("a"),
    () => runtime.update({ a: 2 }),
    () => runtime.inject({ b: 1 }),
    () => runtime.names(),
    () => runtime.describe(),
    () => runtime.keep("x", 1),
    () => runtime.reset(),
  ]) {
    await assert.rejects(use(), /processRuntime is closed/)
  }
})

test("close ends a cell under way and refuses those that wait", async () => {
  const runtime = processRuntime({ started: () => void runtime.close() })
  const first = runtime.execute("await started(); for (;;) {}")
  const second = runtime.execute("1")
  await Promise.all([assert.rejects(second, /closed/), first])
  assert.equal(errorOf(await first).kind, "aborted")
})

test("declarations are there before anything runs, and follow what cells do", async () => {
  await using runtime = processRuntime({ add, rows: variable([{ a: 1 }], "The rows") })
  assert.match(await runtime.describe(), /declare function add\(a: number, b: number\): Promise<any>/)
  assert.match(await runtime.describe(["rows"]), /The rows[\s\S]*declare let rows: \{ a: number \}\[\]/)
  await cellValue(runtime, "rows[0].b = 'x'; const made = (n: number) => 'text'")
  assert.match(await runtime.describe(["rows"]), /The rows[\s\S]*declare let rows: \{ a: number; b: string \}\[\]/)
  assert.match(await runtime.describe(["made"]), /declare (const|function) made/)
  await assert.rejects(runtime.describe(["nothing"]), /no "nothing"/)
})

test("whatever a function of the host throws, the cell catches it and the host lives", async () => {
  const refuse = () => {
    throw new Error("read too closely")
  }
  const thrown: unknown[] = [
    "text",
    { code: 5 },
    Object.create(null),
    { toString: refuse },
    Object.defineProperty(new Error("a trap"), "message", { get: refuse }),
    new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse }),
    Symbol("sign"),
    Promise.resolve(),
  ]
  await using runtime = processRuntime({
    fail(index: number) {
      throw thrown[index]
    },
  })
  const caught = await cellValue(
    runtime,
    `const caught = []
    for (let index = 0; index < ${thrown.length}; index++) await fail(index).catch((error) => caught.push(error))
    ;[caught[0], caught[1].code, caught.length]`,
  )
  assert.deepEqual(caught, ["text", 5, thrown.length])
})

test("what is injected while the first cell is on its way is there", async () => {
  await using runtime = processRuntime({ early: 1 })
  const injected = runtime.inject({ late: new URL("http://karst.test/") })
  const execution = runtime.execute("[early, await late.hostname]")
  await injected
  const { ok, value } = (await execution) as { ok: boolean; value?: unknown }
  assert.deepEqual([ok, value], [true, [1, "karst.test"]])
})
