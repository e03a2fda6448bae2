import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { test } from "node:test"
import type { CellEnv } from "../../../../src/runtime/js/ambient/cell-env.ts"
import { jsRuntime } from "../../../../src/runtime/js.ts"
import { cellValue } from "../../cell-results.ts"

const noon = Date.UTC(2026, 0, 1, 12)

/** Random numbers that are the same for each new generator. */
function dice(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test("time comes from the environment of the execution", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "const later = () => Date.now()")
  const env = { now: () => noon }
  assert.equal(await cellValue(runtime, "new Date().toISOString()", { env }), "2026-01-01T12:00:00.000Z")
  assert.deepEqual(
    await cellValue(runtime, "[Date.now(), +new Date(), later(), performance.now() - performance.timeOrigin]", { env }),
    Array(4).fill(noon),
  )
  assert.equal(await cellValue(runtime, "Date()", { env }), new Date(noon).toString())
  const real = await cellValue(runtime, "later()")
  assert.ok(typeof real === "number" && Math.abs(real - Date.now()) < 60_000)
})

test("Date under another clock is still Date", async () => {
  const runtime = jsRuntime({ host: new Date(5) })
  const env = { now: () => noon }
  const code = `
    class Day extends Date { label() { return this.getTime() } }
    const day = new Day()
    ;[new Date() instanceof Date, host instanceof Date, day instanceof Day, day instanceof Date, day.label(),
      new Date(2020, 1, 2).getMonth(), new Date("2020-05-05").getTime() === Date.parse("2020-05-05"), Date.UTC(1970, 0, 1),
      Date.name, Date.length, new Date(host).getTime(), structuredClone(new Date()).getTime()]`
  const expected = [true, true, true, true, noon, 1, true, 0, "Date", 7, 5, noon]
  assert.deepEqual(await cellValue(runtime, code, { env }), expected)
  assert.ok((await cellValue(runtime, "new Date()", { env })) instanceof Date)
})

test("randomness comes from the environment of the execution", async () => {
  const runtime = jsRuntime()
  const code = "[Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint16Array(3))]]"
  const first = await cellValue(runtime, code, { env: { random: dice() } })
  assert.deepEqual(await cellValue(runtime, code, { env: { random: dice() } }), first)
  assert.notDeepEqual(await cellValue(runtime, code), await cellValue(runtime, code))
  assert.match(String(first), /,[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12},/)
})

test("everything else of Math and crypto is the platform's", async () => {
  const runtime = jsRuntime()
  const code = `[Math.max(1, 2), Math.PI, String(Math), typeof crypto.subtle.digest,
    new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array())).length]`
  const expected = [2, Math.PI, "[object Math]", "function", 32]
  assert.deepEqual(await cellValue(runtime, code), expected)
  assert.deepEqual(await cellValue(runtime, code, { env: { random: dice() } }), expected)
})

test("a cell may load the dice, for its own runtime", async () => {
  const runtime = jsRuntime()
  await cellValue(runtime, "Math.random = () => 0.25; Math.extra = 1")
  assert.deepEqual(await cellValue(runtime, "[Math.random(), Math.extra]"), [0.25, 1])
  assert.equal(await cellValue(jsRuntime(), "Math.random() === 0.25 || 'extra' in Math"), false)
})

test("a cell may change its clock, dice and console, for its own runtime and until a reset", async () => {
  const [realNow, realUuid] = [performance.now, crypto.randomUUID]
  const runtime = jsRuntime()
  await cellValue(
    runtime,
    "performance.now = () => 0; crypto.randomUUID = () => 'mine'; Math.random = () => 2; console.log = () => {}",
  )
  const code = "console.log('printed'); [performance.now(), crypto.randomUUID(), Math.random()]"
  const changed = await runtime.execute(code)
  assert.ok(changed.ok)
  assert.deepEqual([changed.value, changed.output], [[0, "mine", 2], ""])
  assert.ok(performance.now === realNow && crypto.randomUUID === realUuid)
  assert.notEqual(await cellValue(jsRuntime(), "performance.now()"), 0)
  await runtime.reset()
  const fresh = await runtime.execute(code)
  assert.ok(fresh.ok && Array.isArray(fresh.value))
  assert.ok(fresh.value[0] > 0 && fresh.value[1] !== "mine" && fresh.value[2] < 1)
  assert.equal(fresh.output, "printed\n")
})

test("a cell that stops the clocks is stopped in time all the same", async () => {
  const code = "performance.now = Math.min.bind(null, 0); Date.prototype.valueOf; while (true) {}"
  const execution = await jsRuntime().execute(code, { timeoutMs: 10 })
  assert.ok(!execution.ok && execution.error.kind === "timeout")
})

test("fetch and import come from the environment of the execution", async () => {
  const runtime = jsRuntime()
  const asked: string[] = []
  const env: Partial<CellEnv> = {
    fetch: async (input) => new Response(`got ${input}`),
    import: async (specifier) => {
      asked.push(specifier)
      return { default: "module", named: 1 }
    },
  }
  assert.equal(await cellValue(runtime, "await (await fetch('http://x.test/')).text()", { env }), "got http://x.test/")
  assert.deepEqual(
    await cellValue(runtime, "import it, { named } from 'anything'\n[it, named, (await import('more')).default]", {
      env,
    }),
    ["module", 1, "module"],
  )
  assert.deepEqual(asked, ["anything", "more"])
})

test("the environment's variables are what process.env shows", async () => {
  const runtime = jsRuntime()
  assert.deepEqual(await cellValue(runtime, "({ ...process.env })", { env: { variables: { KEY: "value" } } }), {
    KEY: "value",
  })
  assert.equal(await cellValue(runtime, "process.env.PATH"), process.env.PATH)
})

test("a cell within a cell lives in the environment of the outer one, unless it has its own", async () => {
  const inner = jsRuntime()
  const outer = jsRuntime({
    nested: () => cellValue(inner, "Date.now()"),
    own: () => cellValue(inner, "Date.now()", { env: { now: () => 7 } }),
  })
  assert.deepEqual(await cellValue(outer, "[await nested(), await own()]", { env: { now: () => noon } }), [noon, 7])
})

test("no global is patched, whatever cells run", async () => {
  const watched = [
    "console",
    "process",
    "Date",
    "Math",
    "crypto",
    "performance",
    "setTimeout",
    "fetch",
    "queueMicrotask",
  ] as const
  const before = watched.map((name) => globalThis[name])
  const members = [console.log, Date.now, Math.random, process.exit, process.stdout.write, process.env]
  const runtime = jsRuntime()
  await cellValue(
    runtime,
    "console.log(Date.now(), Math.random()); setTimeout(() => {}, 0); await 1; process.stdout.write('x')",
    { env: { now: () => 1, random: () => 0.5 } },
  )
  assert.deepEqual(
    before,
    watched.map((name) => globalThis[name]),
  )
  assert.deepEqual(members, [console.log, Date.now, Math.random, process.exit, process.stdout.write, process.env])
})

test("process in a cell cannot end the host", async () => {
  const runtime = jsRuntime()
  for (const code of [
    "process.exit(1)",
    "process.abort()",
    "process.kill(process.pid)",
    "process.kill(0)",
    "import process from 'node:process'\nprocess.exit()",
    "import { exit } from 'process'\nexit()",
  ]) {
    const execution = await runtime.execute(code)
    assert.ok(!execution.ok)
    assert.match(execution.error.message, /would end the program that runs this cell/)
  }
  await cellValue(runtime, "process.exitCode = 3")
  assert.equal(process.exitCode, undefined)
  assert.equal(await cellValue(runtime, "process.kill(process.pid, 0)"), true)
})

test("the rest of process is the real one", async () => {
  const runtime = jsRuntime()
  const code =
    "[process.pid, process.version, process.cwd(), typeof process.hrtime.bigint(), process.memoryUsage().rss > 0, process.platform]"
  assert.deepEqual(await cellValue(runtime, code), [
    process.pid,
    process.version,
    process.cwd(),
    "bigint",
    true,
    process.platform,
  ])
  assert.equal(await cellValue(runtime, "await new Promise((go) => process.nextTick(go, 'ticked'))"), "ticked")
})

test("streams can be piped into a cell's stdout again and again", async () => {
  const runtime = jsRuntime()
  const pipe =
    "import { Readable } from 'node:stream'\nimport { once } from 'node:events'\nconst source = Readable.from(['a', 'b']); source.pipe(process.stdout); await once(source, 'end')"
  assert.equal((await runtime.execute(pipe)).stdout, "ab")
  assert.equal((await runtime.execute(pipe)).stdout, "ab")
})

test("timers work as usual: arguments, clearing, promises", async () => {
  const runtime = jsRuntime()
  const code = `
    import { promisify } from "node:util"
    const seen = []
    const cleared = setTimeout(() => seen.push("never"), 1)
    clearTimeout(cleared)
    const interval = setInterval((tag) => { if (seen.push(tag) === 2) clearInterval(interval) }, 1, "tick")
    clearTimeout(undefined); clearImmediate(null)
    queueMicrotask(() => seen.push("micro"))
    await promisify(setTimeout)(10)
    await promisify(setImmediate)()
    const value = await new Promise((go) => setTimeout(go, 1, "given"))
    ;[...seen, value]`
  const value = await cellValue(runtime, code)
  assert.ok(Array.isArray(value))
  assert.deepEqual([value[0], value.at(-1)], ["micro", "given"])
  assert.ok(value.includes("tick") && !value.includes("never"))
})

test("what a timer or microtask throws is printed, not thrown at the host", async () => {
  const runtime = jsRuntime()
  const { stderr } = await runtime.execute(`
    setTimeout(() => { throw new Error("in a timer") }, 1)
    setTimeout(async () => { throw new TypeError("in an async timer") }, 1)
    setImmediate(() => { throw "text" })
    process.nextTick(() => { throw new Error("in a tick") })
    queueMicrotask(() => { throw new RangeError("in a microtask") })
    await new Promise((go) => setTimeout(go, 5))`)
  assert.match(stderr, /Uncaught Error: in a timer\n {4}at .*cell-1\.ts:2:\d+/)
  assert.match(stderr, /Uncaught TypeError: in an async timer/)
  assert.match(stderr, /Uncaught 'text'/)
  assert.match(stderr, /Uncaught Error: in a tick/)
  assert.match(stderr, /Uncaught RangeError: in a microtask/)
})

/** Runs a program that uses `jsRuntime` in another process. */
function program(code: string): Promise<{ exit: number | null; stdout: string; stderr: string }> {
  const source = `import { jsRuntime } from ${JSON.stringify(new URL("../../../../src/runtime/js.ts", import.meta.url).href)}
    const turn = (ms = 5) => new Promise((go) => setTimeout(go, ms))
    ${code}`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => (output.stdout += chunk))
  child.stderr.on("data", (chunk) => (output.stderr += chunk))
  return new Promise((resolve) => child.on("close", (exit) => resolve({ exit, ...output })))
}

test("a promise that a cell forgot does not end the host, and its error is printed", async () => {
  const { exit, stdout, stderr } = await program(`
    const runtime = jsRuntime({ fail: async () => { throw new Error("call nobody awaited") } })
    await runtime.execute('Promise.reject(new Error("floating"))\\n0')
    await runtime.execute('const later = (async () => { await 1; throw new Error("stored") })(); 0')
    await turn()
    console.log((await runtime.execute("0")).stderr)
    console.log((await runtime.execute("fail(); 0")).stderr)
    const stopped = await runtime.execute("(async () => { while (true) await 1 })(); await new Promise(() => {})", { timeoutMs: 10 })
    await turn()
    console.log(stopped.error.kind, "alive")`)
  assert.equal(stderr, "")
  assert.match(stdout, /Uncaught Error: floating\n {4}at .*cell-1\.ts:1:\d+/)
  assert.match(stdout, /Uncaught Error: stored/)
  assert.match(stdout, /Uncaught Error: call nobody awaited/)
  assert.match(stdout, /timeout alive/)
  assert.equal(exit, 0)
})

test("a promise that the host forgot still ends it, as without us", async () => {
  const { exit, stdout, stderr } = await program(`
    process.on("uncaughtExceptionMonitor", (error, origin) => console.log(origin, error.message))
    const runtime = jsRuntime()
    await runtime.execute("1")
    Promise.reject(new Error("the host's own"))
    await turn()
    console.log("not reached")`)
  assert.equal(exit, 1)
  assert.equal(stdout, "unhandledRejection the host's own\n")
  assert.match(stderr, /the host's own/)
})

test("the host's own listener for forgotten promises hears of its own, and a closed runtime listens no more", async () => {
  const { exit, stdout } = await program(`
    const heard = []
    const runtime = jsRuntime()
    await runtime.execute("1")
    console.log(process.listenerCount("unhandledRejection"))
    process.on("unhandledRejection", (error) => console.log("heard", error.message))
    Promise.reject(new Error("mine"))
    await turn()
    await runtime.close()
    console.log(process.listenerCount("unhandledRejection"))`)
  assert.equal(exit, 0)
  assert.equal(stdout, "1\nheard mine\n1\n")
})

test("the host's own listeners never hear of promises that cells forgot, and of all others they do", async () => {
  const { exit, stdout, stderr } = await program(`
    process.on("unhandledRejection", (error) => console.log("heard", error.message))
    process.on("uncaughtException", (error) => console.log("caught", error.message))
    const runtime = jsRuntime({ turn, fail: async () => { throw new Error("a call") } })
    const first = await runtime.execute('Promise.reject(new Error("one")); Promise.reject(new Error("two")); await turn(); 0')
    process.prependListener("unhandledRejection", (error) => console.log("heard first", error.message))
    const second = runtime.execute('fail(); const kept = Promise.reject(new Error("three")); await turn(); 0')
    Promise.reject(new Error("mine"))
    const third = await runtime.execute('(async () => { await turn(20); throw new Error("late") })(); 0')
    await runtime.close()
    await turn(40)
    for (const { stderr } of [first, await second, third]) console.log(stderr.match(/Uncaught Error: .*/g)?.join())
    console.log(process.domain)
    await import("node:domain")
    console.log("alive")`)
  assert.equal(stderr, "")
  assert.equal(
    stdout,
    [
      "heard first mine",
      "heard mine",
      "Uncaught Error: one,Uncaught Error: two",
      "Uncaught Error: three,Uncaught Error: a call",
      "Uncaught Error: late",
      "null",
      "alive",
      "",
    ].join("\n"),
  )
  assert.equal(exit, 0)
})

test("leftovers of a closed runtime do not end the host", async () => {
  const { exit, stdout, stderr } = await program(`
    const late = Promise.withResolvers()
    const runtime = jsRuntime({ feed: { next: () => turn(10) }, late: () => late.promise })
    await runtime.execute("(async () => { while (true) await feed.next() })(); 1")
    const stuck = runtime.execute("late(); await new Promise(() => {})")
    await turn()
    await runtime.close()
    console.log((await stuck).error.kind)
    late.reject(new Error("a call nobody awaits"))
    await turn(30)
    console.log("alive")`)
  assert.equal(stderr, "")
  assert.equal(stdout, "aborted\nalive\n")
  assert.equal(exit, 0)
})

test("callbacks of a stopped cell that the host calls do not end it, nor reach its own handlers", async () => {
  const { exit, stdout, stderr } = await program(`
    process.on("uncaughtException", (error) => console.log("heard", error.message))
    process.once("uncaughtException", () => console.log("heard once"))
    const target = new EventTarget()
    const runtime = jsRuntime({ tick: (f) => void setTimeout(f, 30), target, turn, seen: [] })
    const { error } = await runtime.execute(
      "import { setTimeout as later } from 'node:timers'\\n" +
      "import timers from 'timers'\\n" +
      "const note = (what) => () => seen.push(what)\\n" +
      "tick(note('tick')); target.addEventListener('x', note('event')); later(note('timer'), 30); timers.setInterval(note('interval'), 30)\\n" +
      "AbortSignal.timeout(30).addEventListener('abort', note('abort')); await new Promise(() => {})", { timeoutMs: 15 })
    console.log(error.kind)
    await turn(60)
    console.log(JSON.stringify(await runtime.retrieve("seen")))
    setTimeout(() => { throw new Error("the host's own") })
    await turn(20)
    setTimeout(() => { throw new Error("again") })
    await turn(20)`)
  assert.equal(stderr, "")
  assert.equal(stdout, "timeout\n[]\nheard the host's own\nheard once\nheard again\n")
  assert.equal(exit, 0)
})

test("an exception of the host still ends it, as without us", async () => {
  const { exit, stdout, stderr } = await program(`
    process.on("uncaughtExceptionMonitor", (error, origin) => console.log(origin, error.message))
    const runtime = jsRuntime({ tick: (f) => void setTimeout(f, 20) })
    await runtime.execute("tick(() => 1); await new Promise(() => {})", { timeoutMs: 10 })
    await turn(40)
    setTimeout(() => { throw new Error("the host's own") })
    await turn(40)
    console.log("not reached")`)
  assert.equal(exit, 1)
  assert.match(stdout, /uncaughtException the host's own\n$/)
  assert.match(stderr, /the host's own/)
})

test("what cells leave waiting keeps no program alive, but a cell may wait for it", async () => {
  const { exit, stdout } = await program(`
    const runtime = jsRuntime()
    await runtime.execute("const later = new Promise((go) => setTimeout(go, 20, 'came')); setInterval(() => {}, 1000); 0")
    console.log((await runtime.execute("await later")).value)`)
  assert.equal(exit, 0)
  assert.equal(stdout, "came\n")
})
