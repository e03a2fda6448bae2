// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { processRuntime } from "../../../src/runtime/process.ts"
import { cellValue, errorOf } from "../cell-results.ts"

class Device {
  get state(): string {
    throw new Error("no state")
  }
  start() {
    throw new TypeError("no power")
  }
  async later() {
    await new Promise(setImmediate)
    throw new RangeError("too late")
  }
}

class Refused extends Error {
  override name = "Refused"
  code = 402
}

const bindings = () => ({
  device: new Device(),
  fail: async () => {
    await new Promise(setImmediate)
    throw new Error("failed")
  },
  refuse() {
    throw new Refused("not today", { cause: new Error("no money") })
  },
})

const failing: Record<string, string> = {
  "a function": "\n\nawait fail()",
  "a function nobody awaits at the end": "\n\nfail()",
  "one of several": "\n\nawait Promise.all([1, fail()])",
  "a method": "\n\nawait device.start()",
  "an async method": "\n\nconst x = await device.later()",
  "a method that is not there": "\n\nawait device.nothing()",
  "a getter": "\n\nawait device.state",
  "a function that a function of the cell calls": "const run = () => device.start()\n\nawait fail()",
}

for (const [title, code] of Object.entries(failing)) {
  test(`the error of ${title} has the line of the cell, and frames of the cell alone`, async () => {
    await using runtime = processRuntime(bindings())
    const { line, stack = "" } = errorOf(await runtime.execute(code))
    assert.equal(line, 3)
    const [, ...frames] = stack.split("\n")
    assert.ok(frames.length > 0 && frames.every((frame) => /^ {4}at .*\bcell-1\.ts:\d+:\d+\)?$/.test(frame)), stack)
  })
}

test("an error of the host crosses with its name, message, fields and cause, and says nothing of the host", async () => {
  await using runtime = processRuntime(bindings())
  const code = `let caught
try { await refuse() } catch (error) { caught = error }
[caught.name, caught.message, caught.code, caught.cause.message, caught.stack + caught.cause.stack]`
  const [name, message, code402, cause, stacks] = (await cellValue(runtime, code)) as string[]
  assert.deepEqual([name, message, code402, cause], ["Refused", "not today", 402, "no money"])
  assert.doesNotMatch(stacks ?? "", /file:|errors\.test|node:|\/src\//)
  const { error } = (await runtime.execute("await refuse()")) as { error: { message: string; stack: string } }
  assert.match(error.message, /^Refused: not today\n {2}because of Error: no money$/)
  assert.doesNotMatch(error.stack, /file:|errors\.test|node:|\/src\//)
})

test("what a cell throws says where, also on the host", async () => {
  await using runtime = processRuntime()
  const execution = await runtime.execute("\nthrow new RangeError('mine')")
  assert.ok(!execution.ok && execution.thrown instanceof RangeError)
  assert.match(execution.thrown.stack ?? "", /cell-1\.ts/)
})
