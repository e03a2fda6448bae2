// test lane: runtimes
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { describe, test } from "node:test"
import { fileURLToPath } from "node:url"
import { fn } from "../../../src/runtime/bindings.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { until } from "../../waiting.ts"
import { sharedRuntime } from "./shared-kernel.ts"

describe("a callback of Python that the host calls", { skip: requires("python") }, () => {
  const left: ((value: number) => unknown)[] = []
  const runtime = sharedRuntime({
    tell: fn((callback: (value: number) => unknown) => {
      callback(1)
    }),
    wait: async (callback: (value: number) => Promise<unknown>) => await callback(1),
    add: (callback: (value: number) => unknown) => Number(callback(1)) + 1,
    leave: (callback: (value: number) => unknown) => void left.push(callback),
    forgive: (callback: (value: number) => Promise<unknown>) => callback(1).catch(() => "caught"),
    acc: new Proxy([1, 2, 3], {}),
    rows: () => [1, 2, 3].values(),
    numbers: new (class Numbers {
      items = [1, 2, 3]
      map = new Map([[1, 2]])
      each(callback: (item: number) => unknown) {
        for (const item of this.items) callback(item)
      }
    })(),
  })

  test("and does not wait for fails the cell that passed it, and not the host", async () => {
    const failed = await runtime.failed("tell(lambda x: 1 / 0)")
    assert.match(failed.error.message, /ZeroDivisionError/)
    assert.equal(await runtime.value("1 + 1"), 2)
  })

  test("in a loop of its own fails the cell too", async () => {
    assert.match((await runtime.failed("numbers.each(lambda x: 1 / 0)")).error.message, /ZeroDivisionError/)
  })

  test("and waits for works, and throws where the host waits", async () => {
    assert.equal(await runtime.value("wait(lambda x: x + 1)"), 2)
    assert.match((await runtime.failed("wait(lambda x: 1 / 0)")).error.message, /ZeroDivisionError/)
    assert.equal(await runtime.value("forgive(lambda x: 1 / 0)"), "caught")
  })

  test("may be a coroutine, also where the cell waits without await", async () => {
    const define = "import asyncio\nasync def slow(x):\n    await asyncio.sleep(0.01)\n    return x + 1\n"
    assert.equal(await runtime.value(`${define}await wait(slow)`), 2)
    assert.equal(await runtime.value("wait(slow)"), 2)
    const nested = "async def twice(x):\n    return await wait(slow) + wait(slow) + x\nwait(twice)"
    assert.equal(await runtime.value(nested), 5)
    const { error } = await runtime.failed("async def fails(x):\n    return 1 / 0\nwait(fails)")
    assert.match(error.message, /ZeroDivisionError/)
  })

  test("and that gives a future of the waiting loop fails with the cure", async () => {
    const { error } = await runtime.failed("wait(lambda x: wait.async_(lambda y: y))")
    assert.match(error.message, /RuntimeError.*write `await`/)
  })

  test("and does not wait for is named in a hint", async () => {
    const seen = await runtime.ran("seen = []\ntell(seen.append)")
    assert.match(seen.hints?.join("\n") ?? "", /^Host code called .+ and did not await its result/)
    assert.deepEqual(await retrieveAny(runtime, "seen"), [1])
  })

  test("gives a result that cannot be mistaken for a value", async () => {
    assert.match((await runtime.failed("add(lambda x: x)")).error.message, /not awaited.*await/)
  })

  test("after its cell ended fails in a warning of the next cell", async () => {
    await runtime.ran("leave(lambda x: 1 / 0)")
    left.pop()?.(1)
    await until(async () => /ZeroDivisionError/.test((await runtime.ran("1")).output))
  })

  test("is refused by built-in methods of handles, by name and with the cure", async () => {
    for (const code of [
      "acc.filter(lambda x: x > 2)",
      "acc.forEach(lambda x: 1 / 0)",
      "acc.map(print)",
      "keep = acc.filter\nkeep(lambda x: True)",
      "rows().filter(lambda x: x > 2)",
    ]) {
      const { error } = await runtime.failed(code)
      assert.match(error.message, /^TypeError: .* is (Array|Iterator)\.prototype\.\w+.*Read the value first/, code)
    }
    assert.deepEqual(await runtime.value("[x for x in acc if x > 2]"), [3])
  })
})

describe("the host of a callback that fails", { skip: requires("python") }, () => {
  test("lives on, also when it closes the runtime while callbacks wait", async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("failing-callbacks.ts", import.meta.url))], {
      stdio: ["ignore", "pipe", "pipe"],
    })
    const [printed, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
    assert.equal(code, 0, errors)
    assert.match(printed, /^throw ZeroDivisionError.*\nthrow ZeroDivisionError.*\nclosed\n$/)
  })
})
