import assert from "node:assert/strict"
import { test } from "node:test"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { CellOutput } from "../../../src/runtime/runtime.ts"

test("what a cell prints is captured by stream and in order", async () => {
  const runtime = jsRuntime()
  const execution = await runtime.execute(`
    console.log("one", { a: 1 })
    console.error("two")
    console.info("three %d", 3)
    console.warn("four")
    console.debug("five")
    process.stdout.write("six")
    process.stderr.write(Buffer.from("seven\\n"))
  `)
  assert.equal(execution.stdout, "one { a: 1 }\nthree 3\nfive\nsix")
  assert.equal(execution.stderr, "two\nfour\nseven\n")
  assert.equal(execution.output, "one { a: 1 }\ntwo\nthree 3\nfour\nfive\nsixseven\n")
})

test("the rest of the console works too", async () => {
  const runtime = jsRuntime()
  const execution = await runtime.execute(`
    console.group("head")
    console.log("a\\nb")
    console.group()
    console.log("deeper")
    console.groupEnd()
    console.groupEnd()
    console.table([{ x: 1 }])
    console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })
    console.count(); console.count("named"); console.countReset(); console.count()
    console.assert(1 === 1, "fine"); console.assert(false, "wrong %s", "here")
    console.time("t"); console.timeEnd("t")
  `)
  assert.match(execution.stdout, /^head\n {2}a\n {2}b\n {4}deeper\n┌/)
  assert.match(execution.stdout, /│ 0 +│ 1 │/)
  assert.match(execution.stdout, /\{ a: \[Object\] \}\ndefault: 1\nnamed: 1\ndefault: 1\nt: /)
  assert.equal(execution.stderr, "Assertion failed: wrong here\n")
})

test("a group ends with the cell that opened it", async () => {
  const runtime = jsRuntime()
  await runtime.execute("console.group('open')")
  assert.equal((await runtime.execute("console.log('flush left')")).stdout, "flush left\n")
})

test("console.trace and printed errors show only frames that say something", async () => {
  const runtime = jsRuntime()
  const { stderr } = await runtime.execute(
    "function inner() { console.trace('here'); console.error(new Error('shown')) }\ninner()",
  )
  assert.match(stderr, /^Trace: here\n {4}at inner \(cell-1\.ts:1:\d+\)/)
  assert.match(stderr, /Error: shown\n {4}at inner \(cell-1\.ts:1:\d+\)/)
  assert.doesNotMatch(stderr, /node:internal|src\/runtime|karst:/)
})

test("output is streamed as it is printed", async () => {
  const runtime = jsRuntime()
  const chunks: CellOutput[] = []
  await runtime.execute("console.log('a'); await 1; console.error('b')", { onOutput: (chunk) => chunks.push(chunk) })
  assert.deepEqual(chunks, [
    { stream: "stdout", text: "a\n" },
    { stream: "stderr", text: "b\n" },
  ])
})

test("cells of several runtimes that print at once are told apart", async () => {
  const runs = ["a", "b", "c", "d"].map(async (name) => {
    const runtime = jsRuntime({ name })
    const { output } = await runtime.execute(`
      for (let i = 0; i < 3; i++) { await new Promise((go) => setTimeout(go, 1)); console.log(name + i) }`)
    assert.equal(output, `${name}0\n${name}1\n${name}2\n`)
  })
  await Promise.all(runs)
})

test("what host functions log never reaches the model", async (context) => {
  const logged = context.mock.method(console, "log", () => {})
  const runtime = jsRuntime({
    host: () => {
      console.log("host business")
      return 1
    },
  })
  const execution = await runtime.execute("console.log('cell'); await host()")
  assert.equal(execution.output, "cell\n")
  assert.deepEqual(
    logged.mock.calls.map((call) => call.arguments),
    [["host business"]],
  )
})

test("a closure of another runtime prints for the cell that calls it", async () => {
  const one = jsRuntime()
  await one.execute("const say = (text) => console.log(text)")
  const two = jsRuntime({ holder: { say: await one.retrieve("say") } })
  assert.equal((await two.execute("holder.say('hello')")).stdout, "hello\n")
  assert.equal((await one.execute("0")).output, "")
})

test("output of a timer that fires after its cell goes to the next cell", async () => {
  const fired = Promise.withResolvers<void>()
  const runtime = jsRuntime({ signalled: { fire: () => fired.resolve() } })
  const first = await runtime.execute(
    "setTimeout(() => { console.log('late'); signalled.fire() }, 1); console.log('now')",
  )
  const alive = setInterval(() => {}, 1000)
  await fired.promise
  clearInterval(alive)
  assert.equal(first.output, "now\n")
  const chunks: CellOutput[] = []
  const second = await runtime.execute("console.log('next')", { onOutput: (chunk) => chunks.push(chunk) })
  assert.equal(second.output, "late\nnext\n")
  assert.equal(chunks[0]?.text, "late\n")
})

test("late output that comes while another cell runs is that cell's", async () => {
  const gate = Promise.withResolvers<void>()
  const runtime = jsRuntime({ gate: { open: gate.promise }, release: () => gate.resolve() })
  await runtime.execute("const left = (async () => { await gate.open; console.log('left over') })(); 0")
  assert.equal((await runtime.execute("await release(); await left; console.log('mine')")).output, "left over\nmine\n")
})

test("what the host makes a cell's closure print waits for the next cell", async () => {
  const runtime = jsRuntime()
  await runtime.execute("const say = () => console.log('called by the host')")
  const say = await runtime.retrieve("say")
  assert.ok(typeof say === "function")
  say()
  assert.equal((await runtime.execute("0")).output, "called by the host\n")
})

test("endless late output is cut, endless output of a cell stops it", async () => {
  const runtime = jsRuntime()
  await runtime.execute("const flood = (n) => { for (let i = 0; i < n; i++) console.log('x'.repeat(1000)) }")
  const flood = await runtime.retrieve("flood")
  assert.ok(typeof flood === "function")
  flood(500)
  const { output } = await runtime.execute("0")
  assert.ok(output.length < 102_000)
  assert.match(output, /left out/)
  const execution = await runtime.execute("flood(Infinity)")
  assert.ok(!execution.ok)
  assert.equal(execution.error.kind, "memory")
})

test("a value is previewed as a REPL shows it, undefined not at all", async () => {
  const runtime = jsRuntime()
  const previewOf = async (code: string) => {
    const execution = await runtime.execute(code)
    assert.ok(execution.ok)
    return execution.preview
  }
  assert.equal(await previewOf("'text'"), "'text'")
  assert.equal(await previewOf("({ a: [1, 2] })"), "{ a: [ 1, 2 ] }")
  assert.equal(await previewOf("null"), "null")
  assert.equal(await previewOf("undefined"), undefined)
  assert.equal(await previewOf("const x = 5"), undefined)
  assert.doesNotMatch((await previewOf("new Error('as a value')")) ?? "", /node:internal|src\/runtime|karst:/)
})
