import assert from "node:assert/strict"
import { test } from "node:test"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { CallGate, CellExecution, Runtime } from "../../../src/runtime/runtime.ts"
import { errorOf, settle } from "../cell-results.ts"

const endless: { [what: string]: string } = {
  "a while loop": "while (true) {}",
  "a for loop": "for (;;) {}",
  "a do loop": "do {} while (true)",
  "a loop that swallows errors": "while (true) { try { while (true) {} } catch {} }",
  "a loop with a finally": "try { while (true) {} } finally { while (true) {} }",
  "a generator": "const forever = function* () { while (true) yield 1 }\nfor (const x of forever()) {}",
  recursion: "const f = (n) => { for (;;) g(n) }, g = (n) => n\nf(1)",
  "a loop of slow steps":
    "const data = Array.from({ length: 20_000 }, (_, i) => i % 97)\nwhile (true) [...data].sort()",
  "a loop after fast ones":
    "let n = 0\nfor (let i = 0; i < 1e6; i++) n++\nwhile (true) Array.from({ length: 2000 }).fill(0).join()",
  "a loop after an await": "await 1\nwhile (true) {}",
  "a loop of awaits": "while (true) await 1",
  "a promise that never comes": "await new Promise(() => {})",
  "a long timer": "await new Promise((go) => setTimeout(go, 1e6))",
}

for (const [what, code] of Object.entries(endless)) {
  test(`a time-out ends ${what}`, async () => {
    const runtime = jsRuntime()
    const error = errorOf(await runtime.execute(code, { timeoutMs: 25 }))
    assert.equal(error.kind, "timeout")
    assert.match(error.message, /25 ms/)
    const after = await runtime.execute("'alive'")
    assert.ok(after.ok && after.value === "alive")
    await runtime.close()
  })
}

test("a cell that a guard stopped says at which line", async () => {
  const error = errorOf(await jsRuntime().execute("let n = 0\n\nwhile (true) n++", { timeoutMs: 10 }))
  assert.equal(error.line, 3)
})

test("a cell that is quick enough is not stopped", async () => {
  const execution = await jsRuntime().execute("await 1; for (let i = 0; i < 1e5; i++) {} 'done'", { timeoutMs: 60_000 })
  assert.ok(execution.ok && execution.value === "done")
})

test("nothing of a cell happens after its time-out", async () => {
  const gate = Promise.withResolvers<void>()
  const failing = Promise.withResolvers<void>()
  const seen: string[] = []
  const runtime = jsRuntime({
    seen,
    gates: { open: gate.promise, failing: failing.promise },
    host: { ignore: () => {} },
    call: (text: string) => seen.push(text),
  })
  const execution = await runtime.execute(
    `const note = (text) => seen.push(text)
     gates.open.then(() => note("then")).catch(host.ignore)
     setTimeout(() => note("timer"), 110)
     setInterval(() => note("interval"), 110)
     const branch = async () => { await gates.open; note("branch") }
     branch().catch(host.ignore)
     const caught = async () => { try { await gates.failing } catch { console.log("x"); note("caught") } }
     caught().catch(host.ignore)
     try { await gates.open } catch { note("catch") } finally { await call("finally") }
     note("end")`,
    { timeoutMs: 100 },
  )
  assert.equal(errorOf(execution).kind, "timeout")
  gate.resolve()
  failing.reject(new Error("no"))
  await settle(30)
  await runtime.execute("for (let i = 0; i < 1000; i++) {}")
  assert.deepEqual(seen, [])
})

test("the next cell does not wait for one that was stopped, and is not slowed into failing", async () => {
  const runtime = jsRuntime()
  const stuck = runtime.execute("await new Promise(() => {})", { timeoutMs: 5 })
  const next = runtime.execute("let sum = 0; for (let i = 0; i < 1e5; i++) sum += i; sum")
  assert.equal(errorOf(await stuck).kind, "timeout")
  const execution = await next
  assert.ok(execution.ok && execution.value === 4_999_950_000)
})

test("a signal aborts a cell at once, with its reason", async () => {
  const controller = new AbortController()
  const runtime = jsRuntime({ abort: () => controller.abort(new Error("the user left")) })
  const execution = await runtime.execute("console.log('before'); await abort(); await new Promise(() => {})", {
    signal: controller.signal,
  })
  const error = errorOf(execution)
  assert.equal(error.kind, "aborted")
  assert.match(error.message, /aborted: the user left/)
  assert.equal(execution.output, "before\n")
})

test("a signal that fired before means that nothing runs", async () => {
  const runtime = jsRuntime({ seen: [] as number[] })
  const execution = await runtime.execute("seen.push(1)", { signal: AbortSignal.abort() })
  assert.equal(errorOf(execution).kind, "aborted")
  assert.deepEqual(await runtime.retrieve("seen"), [])
})

test("a cell that waits for its turn can be aborted at once", async () => {
  const gate = Promise.withResolvers<void>()
  const runtime = jsRuntime({ wait: () => gate.promise, seen: [] as string[] })
  const first = runtime.execute("await wait()")
  const controller = new AbortController()
  const second = runtime.execute("seen.push('second')", { signal: controller.signal })
  const third = runtime.execute("seen.push('third')")
  controller.abort()
  assert.equal(errorOf(await second).kind, "aborted")
  gate.resolve()
  await Promise.all([first, third])
  assert.deepEqual(await runtime.retrieve("seen"), ["third"])
})

test("waiting for a turn does not count as running", async () => {
  const runtime = jsRuntime()
  const first = runtime.execute("await new Promise((go) => setTimeout(go, 300))")
  const second = runtime.execute("'in time'", { timeoutMs: 250 })
  await first
  assert.ok((await second).ok)
})

test("a call in flight hears of the time-out, and its result is ignored", async () => {
  const finish = Promise.withResolvers<string>()
  const heard = Promise.withResolvers<unknown>()
  const runtime = jsRuntime({ slow: () => finish.promise, seen: [] as string[] })
  const execution = await runtime.execute("seen.push(await slow())", {
    timeoutMs: 100,
    callGate: (call, next) => {
      call.signal.addEventListener("abort", () => heard.resolve(call.signal.reason))
      return next()
    },
  })
  assert.equal(errorOf(execution).kind, "timeout")
  assert.ok((await heard.promise) instanceof Error)
  finish.resolve("too late")
  await settle()
  assert.deepEqual(await runtime.retrieve("seen"), [])
})

test("a call that waited at the gate is not made after the time-out", async () => {
  const approval = Promise.withResolvers<void>()
  let made = 0
  const runtime = jsRuntime({ wipe: () => made++ })
  const execution = await runtime.execute("await wipe()", {
    timeoutMs: 100,
    callGate: async (_, next) => {
      await approval.promise
      return next()
    },
  })
  assert.equal(errorOf(execution).kind, "timeout")
  approval.resolve()
  await settle()
  assert.equal(made, 0)
})

test("what a cell changed before its time-out stays and is told", async () => {
  const runtime = jsRuntime({ list: [] as number[] })
  const execution = await runtime.execute("const done = 1; list.push(1); while (true) {}", { timeoutMs: 50 })
  assert.equal(errorOf(execution).kind, "timeout")
  assert.deepEqual(execution.changes.created, ["done"])
  assert.deepEqual(await runtime.retrieve("list"), [1])
})

test("a cell within a cell ends with it", async () => {
  const inner = jsRuntime()
  const results: CellExecution[] = []
  const outer: Runtime = jsRuntime({
    nested: async (code: string) => results.push(await inner.execute(code)),
  })
  const waiting = await outer.execute("await nested('await new Promise(() => {})')", { timeoutMs: 100 })
  const looping = await outer.execute("await nested('while (true) {}')", { timeoutMs: 100 })
  assert.deepEqual([errorOf(waiting).kind, errorOf(looping).kind], ["timeout", "timeout"])
  await settle()
  assert.deepEqual(
    results.map((result) => errorOf(result).kind),
    ["aborted", "aborted"],
  )
})

test("a cell that was stopped while it printed does not silence the next", async () => {
  const runtime = jsRuntime()
  const printing = "while (true) { try { process.stdout.write('x') } catch {} }"
  assert.equal(errorOf(await runtime.execute(printing, { timeoutMs: 10 })).kind, "timeout")
  const { stdout } = await runtime.execute("process.stdout.write('a'); console.log('b')")
  assert.equal(stdout, "ab\n")
})

test("timers of a closed runtime do not fire", async () => {
  const seen: string[] = []
  const runtime = jsRuntime({ seen })
  await runtime.execute(
    "setTimeout(() => seen.push('timeout'), 1); setInterval(() => seen.push('interval'), 1); setImmediate(() => seen.push('immediate'))",
  )
  await runtime.close()
  await settle()
  assert.deepEqual(seen, [])
})

test("timers of a runtime that was reset do not fire", async () => {
  const seen: string[] = []
  const runtime = jsRuntime({ seen })
  await runtime.execute("setInterval(() => seen.push('interval'), 1); 0")
  await runtime.reset()
  const before = seen.length
  await settle()
  assert.equal(seen.length, before)
})

test("functions of a stopped cell's runtime still work for the host", async () => {
  const runtime = jsRuntime()
  await runtime.execute("const sum = (n) => { let s = 0; for (let i = 0; i < n; i++) s += i; return s }")
  await runtime.execute("while (true) {}", { timeoutMs: 5 })
  const sum = await runtime.retrieve("sum")
  assert.ok(typeof sum === "function")
  assert.equal(sum(1000), 499_500)
})

/** Blocks the event loop for a while. */
function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

for (const [what, call] of Object.entries({
  "a sync function": "busy(10)",
  "a method": "host.busy(10)",
  "a function that only seems async": "await slow(10)",
})) {
  test(`slow calls of ${what} after fast loops end soon after the time-out`, async () => {
    const counter = { n: 0 }
    const runtime = jsRuntime({
      busy: fn(busy, { sync: true }),
      slow: async (ms: number) => busy(ms),
      host: { busy },
      counter,
    })
    const code = `for (let i = 0; i < 1e5; i++); for (let i = 0; i < 60; i++) { ${call}; counter.n++ }`
    const execution = await runtime.execute(code, { timeoutMs: 25 })
    assert.equal(errorOf(execution).kind, "timeout")
    assert.ok(counter.n < 20, `${counter.n} turns`)
  })
}

test("a cell that is past its time-out when it ends was stopped by it", async () => {
  const runtime = jsRuntime({ host: { busy } })
  assert.equal(errorOf(await runtime.execute("host.busy(20); 'done'", { timeoutMs: 5 })).kind, "timeout")
})

test("a function that the host kept calls nothing any more once its runtime was reset, closed or its cell stopped", async () => {
  const kept: (() => unknown)[] = []
  let made = 0
  const make = (): Runtime =>
    jsRuntime({
      keep: fn((f: () => unknown) => void kept.push(f), { sync: true }),
      wipe: () => made++,
      count: fn(() => made++, { sync: true }),
    })
  const call: CallGate = (_, next) => next()
  const [closed, reset, stopped] = [make(), make(), make()]
  await closed.execute("keep(() => wipe()); keep(() => count())", { callGate: call })
  await closed.close()
  await reset.execute("keep(() => wipe()); keep(() => count())", { callGate: call })
  await reset.reset()
  await stopped.execute("keep(() => wipe()); await new Promise(() => {})", { callGate: call, timeoutMs: 5 })
  for (const f of kept) await assert.rejects(async () => f(), /reset or closed|stopped/)
  assert.equal(made, 0)
  assert.equal(kept.length, 5)
  assert.ok((await reset.execute("await wipe()")).ok)
  assert.equal(made, 1)
})

test("close tells a waiting reset() that it came too late", async () => {
  const runtime = jsRuntime()
  const stuck = runtime.execute("await new Promise(() => {})")
  const refused = assert.rejects(runtime.reset(), /reset\(\) came too late/)
  await runtime.close()
  await Promise.all([stuck, refused])
})
