import assert from "node:assert/strict"
import { test } from "node:test"
import { AgentError } from "../../../src/core/errors.ts"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import { functionRule } from "../../../src/runtime/rules/rules.ts"
import type { CellNotExecuted, CellOptions, Runtime } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { cellValue, errorOf, settle } from "../cell-results.ts"

class Light {
  brightness = 100
  dim(to: number) {
    this.brightness = to
  }
}

class Safe {
  opened = 0
  #count = 0
  open() {
    this.opened++
    return ++this.#count
  }
}

/** The execution of a transaction that must fail. */
async function failed(runtime: Runtime, code: string, options: CellOptions = {}): Promise<CellNotExecuted> {
  const execution = await runtime.execute(code, { transaction: true, ...options })
  assert.ok(!execution.ok, "the cell should have failed")
  return execution
}

async function namesOf(runtime: Runtime): Promise<string[]> {
  return (await runtime.names()).map(({ name }) => name)
}

test("a cell that throws leaves objects of the host and of cells as they were, and they are the same objects", async () => {
  const light = new Light()
  const runtime = jsRuntime({ light })
  const list = await cellValue(runtime, "const list = [{ n: 1 }]; const by = new Map([['first', list[0]]]); list")
  const execution = await failed(
    runtime,
    "light.dim(5); list.push(2); by.get('first').n = 9; by.clear(); throw new Error('no')",
  )
  assert.equal(execution.error.kind, "throw")
  assert.deepEqual(execution.notRolledBack, [])
  assert.deepEqual(execution.changes, { created: [], reassigned: [], removed: [], used: ["light"] })
  assert.equal(light.brightness, 100)
  assert.equal(await retrieveAny(runtime, "list"), list)
  assert.deepEqual(list, [{ n: 1 }])
  assert.equal(await cellValue(runtime, "by.get('first') === list[0]"), true)
})

test("without a transaction a cell that throws keeps what it did", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let n = 1")
  const execution = await runtime.execute("n = 2; throw 1")
  assert.ok(!execution.ok)
  assert.equal(execution.notRolledBack, undefined)
  assert.equal(await runtime.retrieve("n"), 2)
})

test("names that a failed cell made go, names it removed or reassigned come back", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let a = 1; let b = 2; function f() { return a }")
  await failed(runtime, "a = 5; delete globalThis.b; var c = 3; function f() { return 9 } globalThis.d = 4; null.x")
  assert.deepEqual(await namesOf(runtime), ["f", "a", "b"])
  assert.equal(await cellValue(runtime, "f() + b"), 3)
})

test("a name that was constant is constant again, and one that was not is not", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const fixed = 1; let free = 1")
  await failed(runtime, "let fixed = 2; const free = 2; throw 1")
  assert.match(errorOf(await runtime.execute("fixed = 3")).message, /constant/)
  assert.equal(await cellValue(runtime, "free = 3"), 3)
  assert.equal(await runtime.retrieve("fixed"), 1)
})

test("closures of earlier cells see the old values again", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let total = 1; const add = (n) => { total += n; return total }")
  await failed(runtime, "add(10); throw 1")
  assert.equal(await cellValue(runtime, "add(1)"), 2)
})

test("a cell that breaks a rule or does not parse costs nothing and names nothing", async () => {
  const runtime = jsRuntime({ safe: new Safe() }, { rules: [functionRule(["eval"])] })
  const broken = await failed(runtime, "safe.open(; ")
  assert.equal(broken.error.kind, "syntax")
  assert.deepEqual(broken.notRolledBack, [])
  const refused = await failed(runtime, "safe.open(); eval('1')")
  assert.equal(refused.error.kind, "security")
  assert.deepEqual(refused.notRolledBack, [])
})

test("a cell that runs out of time is rolled back, and nothing of it happens afterwards", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const list = []")
  const code = "list.push(1); await new Promise((done) => setTimeout(done, 20)); list.push(2)"
  const execution = await failed(runtime, code, { timeoutMs: 5 })
  assert.equal(execution.error.kind, "timeout")
  assert.deepEqual(await runtime.retrieve("list"), [])
  await settle(30)
  assert.deepEqual(await runtime.retrieve("list"), [])
})

test("an endless loop that is cut off is rolled back", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let n = 0")
  const execution = await failed(runtime, "for (;;) n++", { timeoutMs: 5 })
  assert.equal(execution.error.kind, "timeout")
  assert.equal(await runtime.retrieve("n"), 0)
})

test("a cell that is aborted is rolled back", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let n = 0")
  const controller = new AbortController()
  const execution = failed(runtime, "n = 1; await new Promise(() => {})", { signal: controller.signal })
  await settle()
  controller.abort()
  assert.equal((await execution).error.kind, "aborted")
  assert.equal(await runtime.retrieve("n"), 0)
})

test("a check that gives false refuses the cell and rolls it back", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "let balance = 10")
  const check = async (checked: Runtime) => Number(await checked.retrieve("balance")) >= 0
  const execution = await failed(runtime, "balance -= 20", { transaction: { check } })
  assert.deepEqual(execution.error, { kind: "refused", message: "The check of the transaction gave false." })
  assert.equal(await runtime.retrieve("balance"), 10)
  const accepted = await runtime.execute("balance -= 5", { transaction: { check } })
  assert.ok(accepted.ok)
  assert.equal(await runtime.retrieve("balance"), 5)
})

test("a check that throws refuses the cell with its message", async () => {
  const runtime = jsRuntime()
  const boom = new RangeError("too much")
  const check = () => {
    throw boom
  }
  const execution = await failed(runtime, "let n = 1", { transaction: { check } })
  assert.deepEqual(execution.error, {
    kind: "refused",
    message: "The check of the transaction failed: RangeError: too much",
  })
  assert.equal(execution.thrown, boom)
  assert.deepEqual(await namesOf(runtime), [])
})

test("a check may run cells of its own, and what they do is undone with the rest", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const list = [1]")
  const check = async (checked: Runtime) => {
    await checked.execute("var seen = list.push(3)")
    return false
  }
  await failed(runtime, "list.push(2)", { transaction: { check } })
  assert.deepEqual(await runtime.retrieve("list"), [1])
  assert.deepEqual(await namesOf(runtime), ["list"])
})

test("a check that gives anything but false accepts", async () => {
  const runtime = jsRuntime()
  for (const verdict of [undefined, true, 0, ""]) {
    const execution = await runtime.execute("1", { transaction: { check: () => verdict } })
    assert.equal(execution.ok, true)
  }
})

test("cells that a transaction starts belong to it", async () => {
  const runtime = jsRuntime({ inner: (code: string) => runtime.execute(code) })
  await cellValue(runtime, "const list = [1]")
  await failed(runtime, "await inner('list.push(2); var made = 1'); throw 1")
  assert.deepEqual(await retrieveAny(runtime, "list"), [1])
  assert.deepEqual(await namesOf(runtime), ["inner", "list"])
})

test("a transaction within a cell is rolled back alone", async () => {
  const runtime = jsRuntime({ inner: (code: string) => runtime.execute(code, { transaction: true }) })
  await cellValue(runtime, "const list = [1]")
  await cellValue(runtime, "list.push(2); await inner('list.push(3); throw 1'); list.push(4)")
  assert.deepEqual(await retrieveAny(runtime, "list"), [1, 2, 4])
})

test("calls that were made are named, with how many; calls that were refused are not", async () => {
  const sent: string[] = []
  const runtime = jsRuntime({ send: (text: string) => sent.push(text), wipe: () => assert.fail() })
  const execution = await failed(runtime, "await send('a'); await send('b'); await wipe()", {
    callGate: (call, next) => (call.binding === "wipe" ? Promise.reject(new Error("not allowed")) : next()),
  })
  assert.deepEqual(sent, ["a", "b"])
  assert.deepEqual(execution.notRolledBack, [
    {
      name: "send",
      reason:
        "was called 2 times: its effects outside the namespace are not undone; check them before you call it again",
    },
  ])
})

test("calls of sync functions and of cells within are named too", async () => {
  const runtime = jsRuntime({ tick: fn(() => 1, { sync: true }), inner: (code: string) => runtime.execute(code) })
  const execution = await failed(runtime, "await inner('tick()'); throw 1")
  assert.deepEqual(execution.notRolledBack?.map(({ name }) => name).sort(), ["inner", "tick"])
})

test("#private state that a cell could reach is named, and what it could not reach is not", async () => {
  const runtime = jsRuntime({ safe: new Safe(), numbers: [1] })
  const touched = await failed(runtime, "safe.open(); throw 1")
  assert.deepEqual(touched.notRolledBack, [
    { name: "safe", reason: "the #private fields of Safe cannot be seen by other code" },
  ])
  assert.equal(await cellValue(runtime, "safe.opened"), 0)
  const untouched = await failed(runtime, "numbers.push(2); throw 1")
  assert.deepEqual(untouched.notRolledBack, [])
})

test("what a cell reaches through its own functions, globalThis or a module counts as reached", async () => {
  const runtime = jsRuntime({ safe: new Safe() })
  await cellValue(runtime, "function use() { return deeper() } const deeper = () => safe.open(); const idle = () => 1")
  for (const code of [
    "use(); throw 1",
    "globalThis['sa' + 'fe'].open(); throw 1",
    "await import('node:path'); throw 1",
  ]) {
    const { notRolledBack } = await failed(runtime, code)
    assert.deepEqual(
      notRolledBack?.map(({ name }) => name),
      ["safe"],
      code,
    )
  }
  assert.deepEqual((await failed(runtime, "idle(); throw 1")).notRolledBack, [])
})

test("what the host injects or updates while the cell runs stays", async () => {
  const runtime = jsRuntime({
    given: 1,
    add: () => runtime.inject({ late: 7 }),
    set: () => runtime.update({ given: 2 }),
  })
  await failed(runtime, "await add(); await set(); var mine = 1; throw 1")
  assert.equal(await retrieveAny(runtime, "late"), 7)
  assert.equal(await runtime.retrieve("given"), 2)
  assert.deepEqual(await namesOf(runtime), ["given", "add", "set", "late"])
})

test("a transaction that succeeded can be undone until the next cell begins", async () => {
  const runtime = jsRuntime({ light: new Light() })
  await cellValue(runtime, "const list = [1]")
  const execution = await runtime.execute("light.dim(3); list.push(2); let n = 1", { transaction: true })
  assert.ok(execution.ok)
  assert.deepEqual(execution.changes.created, ["n"])
  assert.deepEqual(await execution.undo?.(), [])
  assert.deepEqual(await retrieveAny(runtime, "list"), [1])
  assert.equal(await cellValue(runtime, "light.brightness"), 100)
  assert.deepEqual((await runtime.execute("1")).changes, { created: [], reassigned: [], removed: [] })
})

test("undo comes too late after the next cell, a reset, a close or another undo, and says so", async () => {
  const runtime = jsRuntime()
  const start = async () => {
    const execution = await runtime.execute("var n = 1", { transaction: true })
    assert.ok(execution.ok && execution.undo)
    return execution.undo
  }
  const tooLate = (error: unknown) => error instanceof AgentError && error.code === "too-late"
  const next = await start()
  await runtime.execute("1")
  await assert.rejects(next(), tooLate)
  const twice = await start()
  await twice()
  await assert.rejects(twice(), tooLate)
  const reset = await start()
  await runtime.reset()
  await assert.rejects(reset(), tooLate)
  const closed = await start()
  await runtime.close()
  await assert.rejects(closed(), tooLate)
})

test("undo names the calls that were made", async () => {
  const runtime = jsRuntime({ send: () => 1 })
  const execution = await runtime.execute("await send()", { transaction: true })
  assert.ok(execution.ok)
  assert.deepEqual(await execution.undo?.(), [
    {
      name: "send",
      reason: "was called once: its effects outside the namespace are not undone; check them before you call it again",
    },
  ])
})

test("a cell without a transaction has nothing to undo", async () => {
  const execution = await jsRuntime().execute("1")
  assert.ok(execution.ok)
  assert.equal(execution.undo, undefined)
})

test("what a failed cell printed is still told", async () => {
  const execution = await failed(jsRuntime(), "console.log('so far'); throw 1")
  assert.equal(execution.output, "so far\n")
})

test("modules of the platform that a name stands for are neither entered nor named", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "import http from 'node:http'; import * as stream from 'node:stream'; let n = 1")
  const { notRolledBack } = await failed(runtime, "n = typeof http.globalAgent; globalThis.x = stream; throw 1")
  assert.deepEqual(notRolledBack, [])
  assert.equal(await runtime.retrieve("n"), 1)
})

test("what a rolled back cell left waiting does not go on: timers, async functions, what follows a promise", async () => {
  const open = Promise.withResolvers<void>()
  await using runtime = jsRuntime({ gate: { open: () => open.promise } })
  await cellValue(runtime, "const list = []")
  const leave = `
setTimeout(() => list.push("timer"), 1)
const waits = async () => { await gate.open(); list.push("after await") }
Promise.allSettled([gate.open().then(() => list.push("then")), waits()])
list.push("now")`
  await failed(runtime, `${leave}\nthrow new Error("no")`)
  const undone = await runtime.execute(leave, { transaction: true })
  assert.ok(undone.ok && undone.undo)
  assert.deepEqual(await retrieveAny(runtime, "list"), ["now"])
  await undone.undo()
  await cellValue(runtime, "let sum = 0; for (let i = 0; i < 5000; i++) sum += i")
  open.resolve()
  await settle(20)
  assert.deepEqual(await retrieveAny(runtime, "list"), [])
  assert.ok((await runtime.execute(leave)).ok)
  await settle(20)
  assert.deepEqual(await retrieveAny(runtime, "list"), ["now", "then", "after await", "timer"])
})
