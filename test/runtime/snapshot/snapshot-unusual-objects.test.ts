import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { inspect } from "node:util"
import { fn } from "../../../src/runtime/bindings.ts"
import { jsRuntime } from "../../../src/runtime/js.ts"
import type { Runtime, RuntimeLoss } from "../../../src/runtime/runtime.ts"
import type { Codec } from "../../../src/runtime/snapshot/codec.ts"
import { cellValue } from "../cell-results.ts"

/** Evaluates `seen` after `made`, before and after its runtime was snapshotted and restored. */
async function carried(made: string, seen: string): Promise<{ before: string; after: string; lost: RuntimeLoss[] }> {
  await using one = jsRuntime({ box: {} })
  await using other = jsRuntime({ box: {} })
  const look = async (runtime: Runtime) => inspect(await cellValue(runtime, seen), { depth: 5 })
  await cellValue(one, made)
  const snapshot = await one.snapshot?.()
  assert.ok(snapshot && other.restore)
  const lost = await other.restore(snapshot)
  return { before: await look(one), after: await look(other), lost }
}

const kept: { [what: string]: [made: string, seen: string] } = {
  "functions in an array that has properties of its own": [
    "const f = () => 1; const a = [f, 2]; a.note = 'x'; a['007'] = f",
    "[a[0](), a[1], a.note, a['007'](), a.length]",
  ],
  "functions in frozen arrays and objects": [
    "const f = () => 1; const a = Object.freeze([f, 1]); const o = Object.freeze({ f, list: [1] })",
    "[a[0](), o.f(), Object.isFrozen(a), Object.isFrozen(o)]",
  ],
  "properties of a typed array": [
    "const t = new Uint8Array(2); t.meta = { n: 1 }; const also = t.meta",
    "[t.meta.n, t.meta === also, t.length]",
  ],
  "numbers of half precision": ["const t = new Float16Array([1.5])", "[t.constructor.name, t[0]]"],
  "a buffer after the list of views grew": ["const b = Buffer.from('hello')", "[Buffer.isBuffer(b), String(b)]"],
  "an array that is nearly empty, of millions of places": [
    "const a = []; a[20_260_101] = 1",
    "[a.length, Object.keys(a)]",
  ],
}

describe("a snapshot keeps", () => {
  for (const [what, [made, seen]] of Object.entries(kept)) {
    test(what, async () => {
      const { before, after, lost } = await carried(made, seen)
      assert.deepEqual([after, lost], [before, []])
    })
  }
})

const named: { [what: string]: { made: string; lost: [string, RegExp][] } } = {
  "a symbol under its name": { made: "const sign = Symbol.for('x')", lost: [["sign", /^a symbol$/]] },
  "bytes that were given away, and views of them": {
    made: "const b = new ArrayBuffer(4); const t = new Uint8Array(b); b.transfer()",
    lost: [
      ["b", /given away/],
      ["t", /given away/],
    ],
  },
  "a view of bytes that may grow": {
    made: "const t = new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 }))",
    lost: [["t", /can change their number/]],
  },
  "the arguments of a function": {
    made: "const given = (function () { return arguments })(1, 2)",
    lost: [["given", /arguments of a function/]],
  },
  "a property of a typed array that is a function": {
    made: "const t = new Uint8Array(2); t.read = () => 1",
    lost: [["t.read", /no cell declared/]],
  },
}

describe("a snapshot names as lost, and keeps the rest", () => {
  for (const [what, { made, lost: expected }] of Object.entries(named)) {
    test(what, async () => {
      const { after, lost } = await carried(`${made}; const rest = 1`, "rest")
      assert.equal(after, "1")
      assert.deepEqual(
        lost.map(({ name, path = "" }) => name + path),
        expected.map(([place]) => place),
      )
      for (const [at, [, why]] of expected.entries()) assert.match(lost[at]?.reason ?? "", why)
    })
  }
})

const walk = (step: string) => `let count = 0; for (let at = top; at; at = ${step}) count++; count`
const deep: { [what: string]: [made: (size: number) => string, seen: string] } = {
  "a list": [(size) => `let top; for (let i = 0; i < ${size}; i++) top = { next: top }`, walk("at.next")],
  "arrays in arrays": [(size) => `let top = []; for (let i = 0; i < ${size}; i++) top = [top]`, walk("at[0]")],
  "maps in the keys of maps": [
    (size) => `let top; for (let i = 0; i < ${size}; i++) top = new Map([[top, i]])`,
    walk("[...at.keys()][0]"),
  ],
  "sets in sets": [(size) => `let top; for (let i = 0; i < ${size}; i++) top = new Set([top])`, walk("[...at][0]")],
  "frozen objects": [
    (size) => `let top; for (let i = 0; i < ${size}; i++) top = Object.freeze({ next: top })`,
    `${walk("at.next")} && [count, Object.isFrozen(top)]`,
  ],
  "a list that leads both ways": [
    (size) =>
      `const nodes = Array.from({ length: ${size} }, (_, id) => ({ id }));
       nodes.forEach((node, at) => Object.assign(node, { next: nodes[at + 1], previous: nodes[at - 1] }))`,
    "nodes.every((node, at) => node.next === nodes[at + 1] && node.next?.previous === (node.next && node))",
  ],
  "a net of instances": [
    (size) =>
      `class Person { friends = new Set(); knows(other) { return this.friends.has(other) } }
       const people = Array.from({ length: ${size} }, () => new Person());
       people.forEach((each, at) => { for (const by of [1, 7, 13]) each.friends.add(people[(at * by + 1) % ${size}]) })`,
    "people.every((each, at) => each instanceof Person && each.knows(people[(at * 7 + 1) % people.length]))",
  ],
  "errors that caused each other": [
    (size) => `let top; for (let i = 0; i < ${size}; i++) { top = new Error("e", { cause: top }); top.stack = "" }`,
    walk("at.cause"),
  ],
  "an injected object": [
    (size) => `let top; for (let i = 0; i < ${size}; i++) top = { next: top }; box.top = top; delete globalThis.top`,
    walk("at.next").replace("at = top", "at = box.top"),
  ],
}

describe("however deep it is, a snapshot keeps and gives back", () => {
  for (const [what, [made, seen]] of Object.entries(deep)) {
    test(what, async () => {
      for (const size of [900, 1300, 1700, 2600, 5000]) {
        const { before, after, lost } = await carried(made(size), seen)
        assert.deepEqual([after, lost], [before, []])
      }
    })
  }
})

class Point {
  x: number
  constructor(x = 0) {
    this.x = x
  }
}

test("a list of instances that a codec keeps may be long as well", async () => {
  class Link {
    next: Link | undefined
  }
  const codec: Codec<Link> = {
    class: Link,
    encode: ({ next }) => ({ next }),
    decode: (data) => Object.assign(new Link(), data),
  }
  const bindings = { link: fn(() => new Link(), { sync: true }) }
  await using one = jsRuntime(bindings, { codecs: { link: codec } })
  await using other = jsRuntime(bindings, { codecs: { link: codec } })
  await cellValue(one, "let top; for (let i = 0; i < 5000; i++) top = Object.assign(link(), { next: top })")
  const snapshot = await one.snapshot?.()
  assert.ok(snapshot)
  assert.deepEqual(await other.restore?.(snapshot), [])
  assert.equal(await cellValue(other, walk("at.next")), 5000)
})

test("a codec that gives something else, or fails, is named, and what is injected stays", async () => {
  const wrong: { [what: string]: (data: unknown) => unknown } = {
    nothing: () => undefined,
    "a promise": async () => new Point(),
    "a number": () => 5,
    failure() {
      throw new Error("no point")
    },
  }
  for (const decode of Object.values(wrong)) {
    // A codec's result is the author's responsibility; this one is wrong on purpose.
    const codec = { class: Point, encode: ({ x }: Point) => x, decode } as Codec<Point>
    const make = () =>
      jsRuntime(
        { origin: new Point(), at: fn((x: number) => new Point(x), { sync: true }) },
        { codecs: { point: codec } },
      )
    await using one = make()
    await using other = make()
    await cellValue(one, "const point = at(2); const kept = 1; origin.x = 7")
    const snapshot = await one.snapshot?.()
    assert.ok(snapshot)
    const lost = (await other.restore?.(snapshot)) ?? []
    assert.deepEqual(
      lost.map(({ name }) => name),
      ["origin", "point"],
    )
    for (const { reason } of lost) assert.match(reason, /the codec point (?:gave no Point|failed: no point)/)
    assert.deepEqual(await cellValue(other, "[origin.x, point, kept]"), [0, undefined, 1])
  }
})

test("what is a function in this runtime is not replaced by data of that name", async () => {
  await using one = jsRuntime({ rows: [1], gone: { n: 1 } })
  await using other = jsRuntime({ rows: () => 5 })
  await cellValue(one, "rows.push(2); const both = [rows, gone]")
  const snapshot = await one.snapshot?.()
  assert.ok(snapshot)
  assert.deepEqual(await other.restore?.(snapshot), [
    { name: "gone", reason: "it was injected, and is not in this runtime" },
    { name: "rows", reason: "it was data, and is something else in this runtime" },
  ])
  assert.equal(await cellValue(other, "await rows()"), 5)
})
