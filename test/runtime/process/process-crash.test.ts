// test lane: runtimes, long
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { until, withEnoughTime } from "../../waiting.ts"
import { cellValue, errorOf } from "../cell-results.ts"

// The real `process` object of the child, not the restricted one that cells see.
const real = "const real = (await import('node:module')).createRequire('/')('process')"

/** A runtime with names that are lost in a crash. */
async function filled() {
  const runtime = processRuntime({ rows: [1], add: (a: number, b: number) => a + b })
  await cellValue(runtime, "const made = 1; rows.push(2)")
  return runtime
}

const endings: { title: string; code: string; kind: string; message: RegExp }[] = [
  { title: "process.exit", code: `${real}; real.exit(3)`, kind: "crash", message: /exited with code 3/ },
  { title: "process.abort", code: `${real}; real.abort()`, kind: "crash", message: /it was ended by SIGABRT\.$/ },
  { title: "a segmentation fault", code: `${real}; real.kill(real.pid, 'SIGSEGV')`, kind: "crash", message: /SIGSEGV/ },
  { title: "a kill", code: `${real}; real.kill(real.pid, 'SIGKILL')`, kind: "crash", message: /SIGKILL/ },
  {
    title: "a function of the platform that was replaced, so that no answer can be sent,",
    code: "JSON.stringify = () => { throw new TypeError('replaced') }",
    kind: "crash",
    message: /it exited with code 1 \(TypeError: replaced\)/,
  },
  {
    title: "a full heap",
    code: "const all = []; for (;;) all.push(new Array(100_000).fill(1.5))",
    kind: "memory",
    message: /heap memory/,
  },
]

for (const { title, code, kind, message } of endings) {
  test(`${title} ends the process of the cell alone: the next one has what was injected`, async () => {
    await using runtime = await filled()
    const execution = await runtime.execute(code)
    const error = errorOf(execution)
    assert.equal(error.kind, kind)
    assert.match(error.message, message)
    assert.deepEqual(
      execution.lost?.map(({ name }) => name),
      ["made", "rows"],
    )
    const again = await runtime.execute("[typeof made, rows, await add(1, 1)]")
    assert.ok(again.ok)
    assert.deepEqual(again.value, ["undefined", [1], 2])
    assert.equal(again.lost, undefined)
  })
}

test("process.exit as cells know it is refused, and nothing is lost", async () => {
  await using runtime = await filled()
  assert.match(errorOf(await runtime.execute("process.exit(1)")).message, /would end the program/)
  assert.equal(await cellValue(runtime, "made"), 1)
})

test("an endless loop is stopped in time and keeps the names", async () => {
  await using runtime = await filled()
  const execution = await runtime.execute("const begun = 1; while (true) {}", { timeoutMs: 50 })
  assert.equal(errorOf(execution).kind, "timeout")
  assert.equal(execution.lost, undefined)
  assert.equal(await cellValue(runtime, "made"), 1)
})

test("an endless chain of awaits is stopped in time and keeps the names", async () => {
  await using runtime = await filled()
  const execution = await runtime.execute("for (;;) await new Promise((go) => setTimeout(go, 1))", { timeoutMs: 50 })
  assert.equal(errorOf(execution).kind, "timeout")
  assert.equal(await cellValue(runtime, "made"), 1)
})

test("code that no guard can stop is stopped with its process, and what is lost is named", async () => {
  await using runtime = await filled()
  const code = "/(a+)+$/.test('a'.repeat(40) + 'b')"
  const execution = await runtime.execute(code, { timeoutMs: 50 })
  assert.equal(errorOf(execution).kind, "timeout")
  assert.match(errorOf(execution).message, /longer than 50 ms/)
  assert.deepEqual(
    execution.lost?.map(({ name }) => name),
    ["made", "rows"],
  )
  assert.equal(await cellValue(runtime, "typeof made"), "undefined")
})

test("an abort stops what no guard can stop", async () => {
  const controller = new AbortController()
  await using runtime = processRuntime({ started: () => setImmediate(() => controller.abort()) })
  const code = "await started(); new (await import('node:vm')).Script('for (;;) {}').runInThisContext()"
  assert.equal(errorOf(await runtime.execute(code, { signal: controller.signal })).kind, "aborted")
})

test("nothing of a stopped cell happens afterwards, also not what it left with the system", async () => {
  await using runtime = await filled()
  const code = `
    const require = (await import("node:module")).createRequire("/"), fs = require("fs")
    require("timers").setTimeout(fs.writeFileSync, 60_000, "late.txt", "late")
    await started(require("process").pid)
    for (;;) await null`
  const child = { pid: 0 }
  await runtime.inject({ started: (own: number) => Object.assign(child, { pid: own }) })
  const execution = await withEnoughTime(
    (timeoutMs) => runtime.execute(code, { timeoutMs }),
    () => child.pid !== 0,
  )
  assert.equal(errorOf(execution).kind, "timeout")
  assert.ok(execution.lost)
  assert.equal(isAlive(child.pid), false)
})

test("a crash between cells is told by the next one", async () => {
  await using runtime = await filled()
  process.kill(Number(await cellValue(runtime, `${real}; const pid = real.pid; pid`)), "SIGKILL")
  // Ask until the child is gone: the first answer of a new child reports it.
  let execution = await runtime.execute("1")
  while (!execution.lost) execution = await runtime.execute("await new Promise((go) => setTimeout(go, 2))")
  assert.deepEqual(
    execution.lost.map(({ name }) => name),
    ["made", "real", "pid", "rows"],
  )
})

test("a process that is gone is replaced also for those who only read", async () => {
  await using runtime = await filled()
  await runtime.execute(`${real}; real.exit(1)`)
  assert.deepEqual(await runtime.retrieve("rows"), [1])
  await assert.rejects(retrieveAny(runtime, "made"), /no "made"/)
  await runtime.inject({ more: 1 })
  await runtime.execute("const { createRequire } = await import('node:module'); createRequire('/')('process').exit(1)")
  await runtime.update({ rows: [9] })
  assert.deepEqual(await cellValue(runtime, "[rows, more]"), [[9], 1])
})

test("the next process gets the values that were updated last", async () => {
  await using runtime = await filled()
  await runtime.update({ rows: [5], add: (a: number, b: number) => a * b })
  await runtime.execute(`${real}; real.exit(1)`)
  assert.deepEqual(await cellValue(runtime, "[rows, await add(3, 4)]"), [[5], 12])
})

test("handles of a process that is gone are made anew", async () => {
  class Counter {
    count = 0
    add() {
      return ++this.count
    }
  }
  await using runtime = processRuntime({ counter: new Counter() })
  assert.equal(await cellValue(runtime, "await counter.add()"), 1)
  await runtime.execute(`${real}; real.exit(1)`)
  assert.equal(await cellValue(runtime, "await counter.add()"), 2)
})

test("a call under way when the process ends is only its own affair", async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await using runtime = processRuntime({ slow: () => held })
  const execution = await runtime.execute(`${real}; slow(); setTimeout(() => real.exit(1), 1); await slow()`)
  assert.equal(errorOf(execution).kind, "crash")
  release()
  assert.equal(await cellValue(runtime, "1 + 1"), 2)
})

test("a rejection and an exception that nobody caught are printed, and the process lives", async () => {
  await using runtime = await filled()
  const code = `
    Promise.reject(new Error("stray rejection"))
    setTimeout(() => { throw new Error("stray timer") })
    const { readFile } = await import("node:fs")
    await new Promise((go) => readFile("/nowhere", () => { setTimeout(go, 5); throw new Error("stray callback") }))
    made`
  const execution = await runtime.execute(code)
  assert.ok(execution.ok)
  assert.equal(execution.value, 1)
  for (const stray of ["stray rejection", "stray timer", "stray callback"])
    assert.match(execution.stderr, new RegExp(stray))
})

test("a flood of output is stopped, and the host keeps only so much of it", async () => {
  await using runtime = processRuntime({}, { limits: { outputBytes: 100_000 } })
  const execution = await runtime.execute("for (;;) console.log('x'.repeat(1000))")
  const error = errorOf(execution)
  assert.equal(error.kind, "memory")
  assert.match(error.message, /printed more than/)
  assert.ok(execution.output.length <= 17_000_000)
  assert.equal(await cellValue(runtime, "1"), 1)
})

test("what goes past the console to the process's own output is the cell's", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using runtime = processRuntime({ isShown: () => promise }, { limits: { outputBytes: 50_000 } })
  const write = "const fs = await import('node:fs'); fs.writeSync(1, 'raw\\n'); await isShown()"
  const execution = await runtime.execute(write, { onOutput: () => resolve() })
  assert.match(execution.stdout, /raw/)
  // A full pipe refuses a write; the flood ignores that.
  const writeOn = "try { fs.writeSync(1, 'x'.repeat(1000)) } catch (error) { if (error.code !== 'EAGAIN') throw error }"
  const flood = await runtime.execute(`for (;;) { ${writeOn}; await null }`)
  assert.equal(errorOf(flood).kind, "memory")
})

test("no child outlives a host that was killed, not even one in an endless loop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "karst-test-"))
  const program = join(folder, "host.ts")
  const source = new URL("../../../src/runtime/process.ts", import.meta.url).href
  writeFileSync(
    program,
    `import { processRuntime } from ${JSON.stringify(source)}
     const [idle, busy] = [1, 2].map(() => processRuntime({}, { cwd: ${JSON.stringify(folder)} }))
     const pid = async (runtime) => (await runtime.execute("process.pid")).value
     console.log(JSON.stringify([await pid(idle), await pid(busy)]))
     await busy.execute("for (;;) {}")`,
  )
  const host = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
  const pids = await new Promise<number[]>((resolve) => {
    host.stdout.on("data", (chunk: Buffer) => resolve(JSON.parse(chunk.toString())))
  })
  const over = new Promise((resolve) => host.on("close", resolve))
  host.kill("SIGKILL")
  await over
  await until(() => !pids.some(isAlive))
  assert.equal(pids.length, 2)
  rmSync(folder, { recursive: true })
})

test("a host that is done ends, and its children with it", async () => {
  const source = new URL("../../../src/runtime/process.ts", import.meta.url).href
  const code = `import { processRuntime } from ${JSON.stringify(source)}
    const runtime = processRuntime(); console.log((await runtime.execute("process.pid")).value)`
  const host = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] })
  let printed = ""
  host.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString()
  })
  assert.equal(await new Promise((resolve) => host.on("close", resolve)), 0)
  const pid = Number(printed)
  await until(() => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    // A zombie does not count as alive.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
