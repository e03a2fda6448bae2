// test lane: runtimes
import assert from "node:assert/strict"
import { test } from "node:test"
import { writeBack } from "../../../../src/runtime/handles/operations/write-back.ts"
import { processRuntime } from "../../../../src/runtime/process.ts"
import { cellValue } from "../../cell-results.ts"

const rows = () => [
  { id: 1, tags: ["a"] },
  { id: 2, tags: ["b"] },
  { id: 3, tags: ["c"] },
]

test("a changed element keeps its identity and gets its new content", () => {
  const list = rows()
  const [, second] = list
  const copy = structuredClone(list)
  copy[1]?.tags.push("x")
  assert.equal(writeBack(list, copy), true)
  assert.equal(list[1], second)
  assert.deepEqual(second?.tags, ["b", "x"])
})

test("elements that were sorted or removed are the same objects in their new places", () => {
  const list = rows()
  const [a, b, c] = list
  assert.equal(writeBack(list, structuredClone([c, a, b])), true)
  assert.deepEqual([list[0] === c, list[1] === a, list[2] === b], [true, true, true])
  assert.equal(writeBack(list, structuredClone([c, b])), true)
  assert.deepEqual([list.length, list[0] === c, list[1] === b], [2, true, true])
  assert.deepEqual([a?.id, b?.id, c?.id], [1, 2, 3])
})

test("keys of Maps and elements of Sets keep their identity", () => {
  const key = { id: 1 }
  const map = new Map([[key, 1]])
  const set = new Set([key])
  const [mapCopy, setCopy] = [structuredClone(map).set({ id: 2 }, 2), structuredClone(set).add({ id: 2 })]
  assert.equal(writeBack(map, mapCopy), true)
  assert.equal(writeBack(set, setCopy), true)
  assert.deepEqual([map.get(key), map.size, set.has(key), set.size], [1, 2, true, 2])
})

test("two parts of a copy never fill one part of the target", () => {
  const shared = { n: 1 }
  const list = [shared, shared]
  assert.equal(writeBack(list, [{ n: 1 }, { n: 5 }]), true)
  assert.deepEqual(list, [{ n: 1 }, { n: 5 }])
  const again = { n: 1 }
  const both = [shared, shared]
  assert.equal(writeBack(both, [again, again]), true)
  assert.deepEqual([both[0] === shared, both[1] === shared], [true, true])
})

test("holes, named members and cycles arrive as they are in the copy", () => {
  const list: unknown[] = Object.assign([1, 2, 3], { old: 1 })
  const copy: unknown[] = Object.assign(new Array(4), { 0: 1, 2: 3, name: "x" })
  assert.equal(writeBack(list, copy), true)
  assert.deepStrictEqual(list, copy)
  const cycle: Record<string, unknown> = { a: 1 }
  cycle.me = cycle
  const other: Record<string, unknown> = { a: 2 }
  other.me = other
  assert.equal(writeBack(cycle, other), true)
  assert.deepEqual([cycle.me === cycle, cycle.a], [true, 2])
})

test("what is no data, or cannot change, is left as it is", () => {
  const service = { mode: "a", save: () => 1 }
  const fixed = Object.preventExtensions([1, 2, 3])
  const readOnly = Object.defineProperty({}, "a", { value: 1, enumerable: true, configurable: true })
  const pairs: [unknown, unknown][] = [
    [service, {}],
    [fixed, [9]],
    [readOnly, { a: 2 }],
    [Object.freeze({ a: 1 }), { a: 2 }],
    [new Proxy({ a: 1 }, {}), { a: 2 }],
    [[], {}],
    [5, 5],
  ]
  for (const [target, copy] of pairs) assert.equal(writeBack(target, copy), false)
  assert.deepEqual([Object.keys(service), [...fixed], Reflect.get(readOnly, "a")], [["mode", "save"], [1, 2, 3], 1])
})

test("values that are exponential when they are walked, and large sets, are written in their own size", () => {
  const branches = () => {
    let made: object = {}
    for (let level = 0; level < 60; level++) made = { left: made, right: made }
    return made
  }
  assert.equal(writeBack({ a: branches() }, { a: branches() }), true)
  assert.equal(writeBack([branches(), 1], [branches(), branches(), 1]), true)
  const set = new Set(Array.from({ length: 20_000 }, (_, id) => ({ id })))
  const [first] = set
  const copy = structuredClone(set).add({ id: -1 })
  assert.equal(writeBack(set, copy), true)
  assert.ok(first && set.has(first))
  const sparse: unknown[] = []
  sparse.length = 4e9
  assert.equal(writeBack([1], sparse), true)
})

test("methods that a cell passes on work after a reset", async () => {
  const light = new (class Light {
    on = false
    toggle() {
      this.on = !this.on
      return this.on
    }
  })()
  await using runtime = processRuntime({ light, callNow: (given: () => unknown) => given() })
  assert.equal(await cellValue(runtime, "await callNow(light.toggle)"), true)
  await runtime.reset()
  assert.equal(await cellValue(runtime, "await callNow(light.toggle)"), false)
})
