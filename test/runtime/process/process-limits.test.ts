// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { cellValue, errorOf } from "../cell-results.ts"

test("buffers outside the heap count as memory", async () => {
  await using runtime = processRuntime({}, { limits: { memoryBytes: 200 * 2 ** 20 } })
  const code =
    "const all = []; for (;;) { all.push(Buffer.alloc(20_000_000, 1)); await new Promise((go) => setTimeout(go, 5)) }"
  const execution = await runtime.execute(code)
  const error = errorOf(execution)
  assert.equal(error.kind, "memory")
  assert.match(error.message, /more than 200 MB/)
  assert.equal(await cellValue(runtime, "1"), 1)
})

test("one buffer that is too large is an error in the cell, and nothing is lost", async () => {
  await using runtime = processRuntime({}, { limits: { memoryBytes: 300 * 2 ** 20 } })
  await cellValue(runtime, "const made = 1")
  const execution = await runtime.execute("new Uint8Array(8_000_000_000)")
  assert.match(errorOf(execution).message, /RangeError/)
  assert.equal(await cellValue(runtime, "made"), 1)
})

test("the heap has the limit it was given", async () => {
  await using runtime = processRuntime({}, { limits: { heapBytes: 64 * 2 ** 20 } })
  const limit = "(await import('node:v8')).getHeapStatistics().heap_size_limit / 1024 / 1024"
  assert.ok(Number(await cellValue(runtime, limit)) < 400)
  const error = errorOf(await runtime.execute("const all = []; for (;;) all.push({ n: [all.length] })"))
  assert.equal(error.kind, "memory")
})

test("processor time is counted by cell", async () => {
  await using runtime = processRuntime({}, { limits: { cpuMs: 300 } })
  const error = errorOf(await runtime.execute("for (;;) {}"))
  assert.equal(error.kind, "timeout")
  assert.match(error.message, /more than 300 ms of processor time/)
  assert.equal(await cellValue(runtime, "await new Promise((go) => setTimeout(go, 20)); 1"), 1)
})

test("a message that is too long for the host is the end of its process", async () => {
  await using runtime = processRuntime({}, { limits: { messageBytes: 100_000 } })
  const code = "const announced = Buffer.alloc(4); announced.writeUInt32LE(200_000); fs.writeSync(3, announced)"
  const execution = await runtime.execute(`const fs = await import("node:fs"); ${code}; for (;;) await 0`)
  assert.match(errorOf(execution).message, /a message of 200000 bytes, where 100000 are allowed/)
  assert.equal(await cellValue(runtime, "typeof announced"), "undefined")
})

test("limits of a message and of output that cannot work are refused", () => {
  const make = (limits: object) => () => processRuntime({}, { limits })
  assert.throws(make({ messageBytes: 100 }), /`limits\.messageBytes` is not a whole number of 100000 or more/)
  assert.throws(make({ outputBytes: 16_000_001 }), /`limits\.outputBytes` is not a whole number from 1 to 16000000/)
  assert.throws(make({ outputBytes: Infinity }), /limits\.outputBytes/)
})

test("messages without a limit cross", async () => {
  await using runtime = processRuntime({}, { limits: { messageBytes: Infinity } })
  assert.equal(await cellValue(runtime, "1 + 1"), 2)
})

test("output and errors that are longer than a message arrive, the errors shortened", async () => {
  await using runtime = processRuntime({}, { limits: { messageBytes: 100_000 } })
  const printed = await runtime.execute("console.log('\\u0001'.repeat(15_999) + '🙂'.repeat(60_000)); 1")
  assert.ok(printed.ok)
  assert.equal(printed.stdout.length, 15_999 + 120_000 + 1)
  assert.match(printed.stdout, /^\u0001+🙂+\n$/u)
  assert.ok(errorOf(await runtime.execute("throw new Error('long '.repeat(100_000))")).message.length < 100_000)
  assert.equal(await cellValue(runtime, "2"), 2)
})

test("live handles have a limit, and letting go of them makes room", async () => {
  class Thing {}
  await using runtime = processRuntime({ make: () => new Thing() }, { limits: { handles: 10 } })
  const code = "const held = []; for (let i = 0; i < 20; i++) held.push(await make())"
  assert.match(errorOf(await runtime.execute(code)).message, /10 live handles already/)
  assert.equal(await cellValue(runtime, "held.length"), 10)
})

test("fetch and WebAssembly work within the limit of address space", async () => {
  await using runtime = processRuntime()
  const code = "const memory = new WebAssembly.Memory({ initial: 10 }); memory.buffer.byteLength"
  assert.equal(await cellValue(runtime, code), 655360)
  const response = "await (await fetch('data:text/plain,hello')).text()"
  assert.equal(await cellValue(runtime, response), "hello")
})

const fill = `const fs = await import("node:fs")
const megabyte = Buffer.alloc(2 ** 20, 1)
const written = (file) => { try { for (let size = 0; size < 40; size++) fs.appendFileSync(file(size), megabyte) } catch (error) { return error.code } }
`

test("a file that grows without end is an error in the cell", async () => {
  await using runtime = processRuntime({}, { limits: { diskBytes: 8 * 2 ** 20 } })
  assert.equal(await cellValue(runtime, `${fill} written(() => "one")`), "EFBIG")
  assert.equal(await cellValue(runtime, "fs.statSync('one').size"), 8 * 2 ** 20)
})

test("files without end are an error in the cell with OS isolation", { skip: requires("bwrap") }, async () => {
  await using runtime = processRuntime({}, { isolation: "os", limits: { diskBytes: 8 * 2 ** 20 } })
  assert.equal(await cellValue(runtime, `${fill} written((number) => "file" + number)`), "ENOSPC")
  assert.equal(await cellValue(runtime, "fs.rmSync('file1'); fs.writeFileSync('small', 'x'); 1"), 1)
})

test("a value that is longer than a message stays where it is, and nothing is lost", async () => {
  await using runtime = processRuntime({ take: () => 1 }, { limits: { messageBytes: 100_000 } })
  const execution = await runtime.execute("const long = 'x'.repeat(200_000); long")
  assert.ok(execution.ok)
  assert.match(execution.preview ?? "", /^'?xxx/)
  await assert.rejects(retrieveAny(runtime, "long"), /cannot cross at once.*messageBytes/)
  assert.match(errorOf(await runtime.execute("await take(long)")).message, /cannot cross at once/)
  assert.equal(await cellValue(runtime, "long.length"), 200_000)
})
