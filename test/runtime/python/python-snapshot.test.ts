// test lane: runtimes, long
import assert from "node:assert/strict"
import { hash } from "node:crypto"
import { describe, test } from "node:test"
import { ConfigError } from "../../../src/core/errors.ts"
import { safePythonRules } from "../../../src/runtime/python/rules/safe-python-rules.ts"
import { pythonRuntime } from "../../../src/runtime/python.ts"
import type { RuntimeSnapshot } from "../../../src/runtime/runtime.ts"
import { retrieveAny } from "../../retrieve-any.ts"
import { requires } from "../../system.ts"
import { cellsOf } from "./shared-kernel.ts"

describe("a snapshot of a pythonRuntime", { skip: requires("python", "pandas") }, () => {
  test("keeps data, shared parts and imports, binds functions of the host again, and names what is lost", async () => {
    await using first = pythonRuntime({ given: 1, add: (n: number) => n + 1 })
    const { ran } = cellsOf(first)
    await ran(`
import pandas as pd, numpy as np, datetime
df = pd.DataFrame({"a": [1, 2]})
array = np.arange(3)
shared = {"n": 1}
pair = [shared, shared]
when = datetime.datetime(2026, 1, 1)
given = 99
def double(x): return 2 * x
class Thing: pass
thing = Thing()
alias = add
`)
    const snapshot = await first.snapshot?.()
    assert.ok(snapshot)
    assert.deepEqual(snapshot.lost.map(({ name }) => name).toSorted(), ["Thing", "alias", "double", "thing"])
    for (const { reason } of snapshot.lost) assert.match(reason, /not data/)
    assert.equal((await first.snapshot?.())?.hash, snapshot.hash)

    await using second = pythonRuntime({ given: 1, add: (n: number) => n + 1 })
    await cellsOf(second).ran("gone = 1")
    const lost = await second.restore?.(snapshot)
    assert.equal(lost?.length, 4)
    const { value } = cellsOf(second)
    assert.equal(await value("int(df['a'].sum()) + int(array.sum()) + add(given)"), 106)
    assert.equal(await value("pair[0] is pair[1] and when.year == 2026 and pd.__name__ == 'pandas'"), true)
    await assert.rejects(retrieveAny(second, "gone"), ConfigError)
    await assert.rejects(second.inject({ df: 1 }), /already there/)
  })

  test("keeps injected data that cells changed, and names what of the setup they may have changed", async () => {
    const options = { setup: "class Counter:\n  n = 0\ncounter = Counter()\nunused = Counter()" }
    await using first = pythonRuntime({ rows: [1], same: [1] }, options)
    await cellsOf(first).ran("rows.append(2)\ncounter.n = 1")
    const snapshot = (await first.snapshot?.()) ?? assert.fail()
    assert.deepEqual(
      snapshot.lost.map(({ name, asInjected }) => [name, asInjected]),
      [["counter", true]],
    )
    await using second = pythonRuntime({ rows: [1], same: [5] }, options)
    await second.restore?.(snapshot)
    assert.deepEqual(await second.retrieve("rows"), [1, 2])
    assert.deepEqual(await second.retrieve("same"), [5])
    const again = (await second.snapshot?.()) ?? assert.fail()
    assert.deepEqual(again.lost, [], "what was reported is not reported again")
    await using third = pythonRuntime({ rows: [1], same: [5] }, options)
    await third.restore?.(again)
    assert.deepEqual(await third.retrieve("rows"), [1, 2])
  })

  test("makes a fork, which goes its own way", async () => {
    await using first = pythonRuntime({ base: 10 })
    await cellsOf(first).ran("items = [1]")
    const second = await first.fork?.()
    assert.ok(second)
    try {
      assert.ok((await second.execute("items.append(base)")).ok)
      assert.deepEqual([await retrieveAny(first, "items"), await retrieveAny(second, "items")], [[1], [1, 10]])
    } finally {
      await second.close()
    }
  })

  test("whose bytes were damaged is refused, and the namespace is as it was", async () => {
    await using runtime = pythonRuntime({ base: [1] })
    const { ran, value } = cellsOf(runtime)
    await ran("items = [1]\ndef double(x): return 2 * x")
    const snapshot = await runtime.snapshot?.()
    assert.ok(snapshot)
    await ran("base.append(2)\nitems.append(3)")
    const other = Uint8Array.from(snapshot.data, (byte, at) => (at === 40 ? byte ^ 1 : byte))
    for (const data of [snapshot.data.slice(0, -1), other, new Uint8Array()]) {
      await assert.rejects(async () => runtime.restore?.({ ...snapshot, data }), {
        name: "AgentError",
        code: "invalid-snapshot",
        message: /its bytes are damaged/,
      })
    }
    assert.deepEqual(await value("[base, items, double(2)]"), [[1, 2], [1, 3], 4])
  })

  test("that a kernel cannot read is refused", async () => {
    await using runtime = pythonRuntime()
    const data = Buffer.from("no pickle")
    const foreign: RuntimeSnapshot = { version: 1, language: "python", data, hash: hash("sha256", data), lost: [] }
    await assert.rejects(async () => runtime.restore?.(foreign), {
      code: "invalid-snapshot",
      message: /cannot read it/,
    })
    assert.equal(await cellsOf(runtime).value("1 + 1"), 2)
  })

  test("of another language is refused", async () => {
    await using runtime = pythonRuntime()
    const other: RuntimeSnapshot = { version: 1, language: "typescript", data: new Uint8Array(), hash: "", lost: [] }
    await assert.rejects(async () => runtime.restore?.(other), ConfigError)
  })

  test("leaves out the largest names where it would be too large, and says so", async () => {
    await using runtime = pythonRuntime({}, { maxSnapshotBytes: 5000 })
    const { ran } = cellsOf(runtime)
    await ran("small = [1, 2]\nlarge = 'x' * 4000\nlarger = 'y' * 6000\nother = 'z' * 900")
    const { lost, data } = await runtime.snapshot()
    assert.deepEqual(
      lost.map(({ name }) => name),
      ["larger"],
    )
    assert.match(lost[0]?.reason ?? "", /^too large: of 60\d\d bytes, and a snapshot may have 5000$/)
    assert.ok(data.length <= 5000)
    const less = await runtime.snapshot({ maxBytes: 2000 })
    assert.deepEqual(
      less.lost.map(({ name }) => name),
      ["larger", "large"],
    )
    await runtime.restore(less)
    assert.deepEqual(await runtime.retrieve("small"), [1, 2])
  })
})

describe("rules for Python", { skip: requires("python") }, () => {
  test("refuse a cell before any of it runs, and IPython's own syntax with it", async () => {
    await using runtime = pythonRuntime({}, { rules: safePythonRules() })
    const { value, failed } = cellsOf(runtime)
    assert.equal(await value("sum(range(4))"), 6)
    for (const code of ["ran = 1\nimport subprocess", "ran = 1\neval('1')", "!ls", "%who"]) {
      assert.equal((await failed(code)).error.kind, "security", code)
    }
    await assert.rejects(runtime.retrieve("ran"), ConfigError)
  })
})
