import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createToolState } from "../../src/tools/tool-state.ts"

describe("the state that tools share", () => {
  test("has copies that nobody can change: a tool gives set what it has changed", () => {
    const state = createToolState()
    const rows = [1]
    state.set("rows", rows)
    rows.push(2)
    const kept = state.get("rows")
    assert.deepEqual(kept, [1])
    assert.throws(() => Array.isArray(kept) && kept.push(3), TypeError)
  })

  for (const [kind, value] of Object.entries({
    "a Date": new Date(0),
    "a function": () => 1,
    NaN: Number.NaN,
    undefined: undefined,
    "a Map within": { inside: [new Map()] },
  })) {
    test(`refuses ${kind}, and keeps what was there`, () => {
      const state = createToolState({ key: 1 })
      // A tool in plain JavaScript may return anything.
      assert.throws(
        () => Reflect.apply(state.set, undefined, ["key", value]),
        /^TypeError: The state "key".* is not JSON/,
      )
      assert.equal(state.get("key"), 1)
    })
  }

  test("knows a circle by name, and takes a key such as __proto__ for a key", () => {
    const state = createToolState()
    const circle: { self?: unknown } = {}
    circle.self = circle
    assert.throws(() => Reflect.apply(state.set, undefined, ["key", circle]), /a circular reference/)
    state.set("__proto__", 1)
    assert.equal(state.get("__proto__"), 1)
    assert.equal(state.get("toString"), undefined)
    assert.deepEqual(Object.keys(state.values), ["__proto__"])
  })

  test("records the changes of the work alone that made them, also of what that work has called", async () => {
    const state = createToolState()
    const inner = async () => {
      await null
      state.set("inner", 1)
    }
    const one = state.recordChanges(async () => {
      state.set("one", 1)
      const nested = state.recordChanges(inner)
      await nested.done
      assert.deepEqual(Object.keys(nested.changes() ?? {}), ["inner"])
    })
    const two = state.recordChanges(async () => state.set("two", 2))
    const none = state.recordChanges(async () => undefined)
    state.set("outside", 0)
    await Promise.all([one.done, two.done, none.done])
    assert.deepEqual(Object.keys(one.changes() ?? {}).sort(), ["inner", "one"])
    assert.deepEqual(Object.keys(two.changes() ?? {}), ["two"])
    assert.equal(none.changes(), undefined)
  })

  test("gives changes again in the order in which they were made, whichever call ended first", async () => {
    const first = createToolState()
    const slow = Promise.withResolvers<void>()
    const one = first.recordChanges(async () => {
      first.set("last", "one")
      await slow.promise
    })
    const two = first.recordChanges(async () => first.set("last", "two"))
    await two.done
    slow.resolve()
    await one.done
    const second = createToolState()
    second.applyChanges(two.changes())
    second.applyChanges(one.changes())
    assert.equal(second.get("last"), "two")
  })

  test("lets a recorded change hold over one that was made before it, and a later one over that", async () => {
    const first = createToolState()
    const { done, changes } = first.recordChanges(async () => first.set("n", 1))
    await done
    const second = createToolState()
    for (let n = 10; n < 20; n++) second.set("n", n)
    second.applyChanges(changes())
    assert.equal(second.get("n"), 1)
    second.set("n", 2)
    assert.equal(second.get("n"), 2)
  })
})
