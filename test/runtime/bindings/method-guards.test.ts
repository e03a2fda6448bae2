import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { mergeCallOptions } from "../../../src/runtime/bindings/merge-call-options.ts"
import { createMethodGuards, type GuardedMethod } from "../../../src/runtime/bindings/method-guards.ts"
import { type CallOptions, type MethodGuard, variable } from "../../../src/runtime/bindings.ts"
import type { RuntimeCall } from "../../../src/runtime/runtime.ts"

class Light {
  wipe() {
    return "wiped"
  }
  dim() {
    return "dimmed"
  }
}

const call: RuntimeCall = { id: "1", binding: "x", args: [], approve: false, signal: new AbortController().signal }
const text = (guarded: GuardedMethod | undefined) => guarded?.subject

/** The guards of objects by name, each guarding `wipe`. */
function guardsOf(objects: Record<string, object>, options: CallOptions = { approve: true }) {
  const guards = createMethodGuards()
  const guard = { wipe: options } as MethodGuard
  for (const [name, object] of Object.entries(objects)) guards.add(name, variable<object>(object, { guard }))
  return guards
}

describe("a guard is found", () => {
  const light = new Light()
  const other = new Light()
  const own = { wipe: () => "own" }
  const forwarding = new Proxy(light, {})
  const { wipe } = Light.prototype
  const rows: [string, unknown, PropertyKey | undefined, unknown, string | undefined][] = [
    ["by owner and key", light, "wipe", wipe, "light.wipe"],
    ["by owner and key, whatever function is there now", light, "wipe", () => 1, "light.wipe"],
    ["not for another method", light, "dim", light.dim, undefined],
    ["not for another instance of the class", other, "wipe", wipe, undefined],
    ["not for another instance that renamed the method", other, "erase", wipe, undefined],
    ["under another name of the guarded object", light, "erase", wipe, "light.wipe"],
    ["under a symbol of the guarded object", light, Symbol("s"), wipe, "light.wipe"],
    ["when the owner is unknown", undefined, undefined, wipe, "light.wipe"],
    ["when only the key is unknown", light, undefined, wipe, "light.wipe"],
    ["through a Proxy of the object", forwarding, "wipe", wipe, "light.wipe"],
    ["through a Proxy of the object, renamed", forwarding, "x", wipe, "light.wipe"],
    ["in a container that the function was stored in", { handlers: wipe }, "handlers", wipe, "light.wipe"],
    ["in an array", [wipe], "0", wipe, "light.wipe"],
    ["of a function that only one object has", { f: own.wipe }, "f", own.wipe, "own.wipe"],
    ["by call of the function", wipe, "call", Function.prototype.call, "light.wipe"],
    ["by apply of the function", wipe, "apply", Function.prototype.apply, "light.wipe"],
    ["not by call of an unguarded function", light.dim, "call", Function.prototype.call, undefined],
    ["not for a value that is no function", light, "size", 5, undefined],
    ["not for nothing", undefined, undefined, undefined, undefined],
  ]
  for (const [title, owner, key, fn, expected] of rows) {
    test(title, () => {
      assert.equal(text(guardsOf({ light, own }).find(owner, key, fn)), expected)
    })
  }

  test("for a function that the host put in place later, once it was read from the object", () => {
    const guards = guardsOf({ light })
    const later = () => 1
    assert.equal(guards.find(undefined, undefined, later), undefined)
    guards.find(light, "wipe", later)
    assert.equal(text(guards.find(undefined, undefined, later)), "light.wipe")
  })

  test("with its object, binding and options", () => {
    const found = guardsOf({ light }, { maxCalls: 3 }).find(undefined, undefined, wipe)
    assert.equal(found?.object, light)
    assert.deepEqual([found?.binding, found?.method, found?.options], ["light", "wipe", { maxCalls: 3 }])
  })

  test("for a guarded object that is a Proxy, by owner and key", () => {
    assert.equal(text(guardsOf({ forwarding }).find(forwarding, "wipe", wipe)), "forwarding.wipe")
  })
})

describe("two guards", () => {
  test("of one object under two names are one, with the stricter of each option", () => {
    const guards = createMethodGuards()
    const light = new Light()
    guards.add("a", variable(light, { guard: { wipe: { approve: false, maxCalls: 5, timeoutMs: 10 } } }))
    guards.add("b", variable(light, { guard: { wipe: { approve: true, maxCalls: 9 }, dim: {} } }))
    const found = guards.find(light, "wipe", light.wipe)
    assert.deepEqual(found?.options, { approve: true, maxCalls: 5, timeoutMs: 10 })
    assert.equal(found?.subject, "a.wipe")
    assert.equal(text(guards.find(light, "dim", light.dim)), "a.dim")
  })

  test("of two objects under one name, one after the other, have different subjects", () => {
    const guards = createMethodGuards()
    const [first, second] = [new Light(), new Light()]
    for (const light of [first, second, first]) guards.add("light", variable(light, { guard: { wipe: {} } }))
    assert.equal(text(guards.find(first, "wipe", first.wipe)), "light.wipe")
    assert.equal(text(guards.find(second, "wipe", second.wipe)), "light#2.wipe")
  })

  test("of two objects that share a method both hold when it is unknown on which it is called", () => {
    const guards = createMethodGuards()
    const [a, b] = [new Light(), new Light()]
    guards.add("a", variable(a, { guard: { wipe: { maxCalls: 2 } } }))
    guards.add("b", variable(b, { guard: { wipe: { approve: true } } }))
    const found = guards.find(undefined, undefined, Light.prototype.wipe)
    assert.deepEqual(found?.options, { approve: true, maxCalls: 2 })
    assert.equal(found?.subject, "a.wipe|b.wipe")
    assert.equal(text(guards.find(b, "renamed", Light.prototype.wipe)), "b.wipe")
  })
})

describe("merged options", () => {
  const yes = () => true
  const no = () => false
  const throws = () => {
    throw new Error("cannot decide")
  }
  const rows: [string, CallOptions, CallOptions, CallOptions][] = [
    ["of which one asks always ask always", { approve: yes }, { approve: true }, { approve: true }],
    ["of which one asks sometimes ask sometimes", { approve: false }, { approve: yes }, { approve: yes }],
    ["that never ask never ask", { approve: false }, {}, { approve: false }],
    [
      "have the lower limits",
      { maxCalls: 0, timeoutMs: 9 },
      { maxCalls: 4, timeoutMs: 3 },
      { maxCalls: 0, timeoutMs: 3 },
    ],
    ["are idempotent when both are", { idempotent: true }, { idempotent: true }, { idempotent: true }],
    ["are not idempotent when one does not say so", { idempotent: true }, {}, {}],
    ["are journaled when one is", { journal: false }, {}, {}],
    ["are not journaled when none is", { journal: false }, { journal: false }, { journal: false }],
    ["refuse rather than ask", { unknown: "ask" }, { unknown: "fail" }, { unknown: "fail" }],
    ["ask rather than repeat", { unknown: "retry" }, { unknown: "ask" }, { unknown: "ask" }],
    ["leave it to the engine rather than repeat", { unknown: "retry" }, {}, {}],
  ]
  for (const [title, one, other, expected] of rows) {
    test(title, () => {
      assert.deepEqual(mergeCallOptions(one, other), expected)
      assert.deepEqual(mergeCallOptions(other, one), expected)
    })
  }

  test("with two predicates ask when one of them asks or cannot decide", async () => {
    const asks = async (one: () => boolean, other: () => boolean) => {
      const { approve } = mergeCallOptions({ approve: one }, { approve: other })
      assert.ok(typeof approve === "function")
      return await approve(call)
    }
    const never = () => false
    assert.deepEqual(
      [await asks(yes, no), await asks(no, yes), await asks(no, never), await asks(yes, () => true)],
      [true, true, false, true],
    )
    await assert.rejects(asks(no, throws), /cannot decide/)
    await assert.rejects(asks(throws, no), /cannot decide/)
  })
})
