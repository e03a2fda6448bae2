// test lane: runtimes
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { currentCall } from "../../../src/runtime/bindings/gated-call.ts"
import { processRuntime } from "../../../src/runtime/process.ts"
import type { CallGate } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { cellValue, errorOf } from "../cell-results.ts"

const exit = "(await import('node:module')).createRequire('/')('process').exit(1)"

class Light {
  brightness = 0
  dim(to: number) {
    this.brightness = to
    return this
  }
}

/** Cells that write directly to the socket. */
const say = `
  const fs = await import("node:fs"), v8 = await import("node:v8")
  const say = (message) => {
    const body = v8.serialize(message), head = Buffer.alloc(4)
    head.writeUInt32LE(body.length)
    fs.writeSync(3, Buffer.concat([head, body]))
  }
  1`

test("a handle that a child gave back under a forged count ends that child, and the next one has it again", async () => {
  const light = new Light()
  await using runtime = processRuntime({ light })
  await cellValue(runtime, say)
  for (const handles of [
    [[1, 1_000_000]],
    [
      [1, 1],
      [1, 1],
      [999, 5],
    ],
  ]) {
    const forged = `say({ type: "release", handles: ${JSON.stringify(handles)} }); await light.dim(1)`
    assert.equal(errorOf(await runtime.execute(forged)).kind, "crash")
    assert.equal(light.brightness, 0, "what was given back cannot be used")
    assert.equal(await cellValue(runtime, "await (await light.dim(7)).brightness"), 7)
    light.brightness = 0
    await cellValue(runtime, say)
  }
})

test("handles of a child that ended count for nothing in the next", async () => {
  await using runtime = processRuntime({ make: () => new Light() }, { limits: { handles: 5 } })
  const fill = "const held = []; for (let i = 0; i < 5; i++) held.push(await make()); held.length"
  for (let round = 0; round < 3; round++) {
    assert.equal(await cellValue(runtime, fill), 5)
    assert.match(errorOf(await runtime.execute("await make()")).message, /5 live handles already/)
    assert.equal(errorOf(await runtime.execute(exit)).kind, "crash")
  }
})

test("what only a child that ended had is let go of on the host", async () => {
  let collected = 0
  const registry = new FinalizationRegistry<undefined>(() => void collected++)
  const make = () => {
    const light = new Light()
    registry.register(light, undefined)
    return light
  }
  await using runtime = processRuntime({ make })
  await cellValue(runtime, "const held = await make(); 1")
  assert.equal(errorOf(await runtime.execute(exit)).kind, "crash")
  await cellValue(runtime, "1")
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  for (let round = 0; round < 200 && collected === 0; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.equal(collected, 1)
})

test("the same object is the same handle's in each child, and comes back as itself", async () => {
  const light = new Light()
  const given: unknown[] = []
  await using runtime = processRuntime({ light, take: (value: unknown) => void given.push(value) })
  await cellValue(runtime, "await take(light)")
  assert.equal(errorOf(await runtime.execute(exit)).kind, "crash")
  await cellValue(runtime, "await take([light, await light.dim(3)])")
  assert.equal(given[0], light)
  assert.deepEqual(given[1], [light, light])
})

test("a call that waits for its gate when the process ends is not made any more", async () => {
  const made: string[] = []
  const asked = Promise.withResolvers<void>()
  const allowed = Promise.withResolvers<void>()
  const gate: CallGate = async (_call, next) => {
    asked.resolve()
    await allowed.promise
    return next()
  }
  const wipe = () => void made.push("wiped")
  await using runtime = processRuntime({ wipe, ready: () => asked.promise })
  const call: CallGate = (asking, next) => (asking.binding === "wipe" ? gate(asking, next) : next())
  const execution = await runtime.execute(`wipe(); await ready(); ${exit}`, { callGate: call })
  assert.equal(errorOf(execution).kind, "crash")
  allowed.resolve()
  assert.equal(await cellValue(runtime, "1 + 1"), 2)
  assert.deepEqual(made, [])
})

test("a function of the host hears that the process it works for has ended", async () => {
  const heard = Promise.withResolvers<string>()
  const slow = async () => {
    const signal = currentCall()?.signal
    signal?.addEventListener("abort", () => heard.resolve(String(signal.reason)))
    await heard.promise
  }
  await using runtime = processRuntime({ slow, pause: () => 1 })
  const execution = await runtime.execute(`slow(); await pause(); ${exit}`)
  assert.equal(errorOf(execution).kind, "crash")
  assert.match(await heard.promise, /exited with code 1/)
})

test("a cell that is aborted before it begins starts no process", async () => {
  await using runtime = processRuntime({ touch: () => 1 })
  const controller = new AbortController()
  controller.abort()
  const execution = await runtime.execute("await touch()", { signal: controller.signal })
  assert.equal(errorOf(execution).kind, "aborted")
  if (!existsSync("/proc/self/task")) return
  const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean)
  assert.deepEqual(children(), [])
  await cellValue(runtime, "await touch()")
  assert.equal(children().length, 1, "the test of the test")
})

test("an object of a child that ended is lost by name, and the next child has everything else", async () => {
  await using runtime = processRuntime({ rows: [1] })
  await cellValue(runtime, "class Model { n = 1 }; const made = new Model(); 1")
  await runtime.inject({ model: await retrieveAny(runtime, "made"), list: [await retrieveAny(runtime, "made")] })
  assert.equal(await cellValue(runtime, "model === made && list[0] === made"), true)
  assert.equal(errorOf(await runtime.execute(exit)).kind, "crash")
  const next = await runtime.execute("rows.length")
  assert.ok(next.ok)
  assert.equal(next.value, 1)
  const gone = next.lost?.filter(({ reason }) => reason.includes("object of the process that has ended"))
  assert.deepEqual(
    gone?.map(({ name }) => name),
    ["model", "list"],
  )
})
