// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ApprovalDenied } from "../../src/actions/approval.ts"
import { AgentError } from "../../src/core/errors.ts"
import {
  decodeError,
  decodeOutcome,
  encodeError,
  encodeFailure,
  encodeOutcome,
} from "../../src/sessions/outcome-codec.ts"
import { decodeValue, encodeValue } from "../../src/sessions/value-codec.ts"
import { toolResult } from "../../src/tools/tool.ts"
import fc from "../property.ts"

describe("what a call came to", () => {
  test("comes back from JSON as it was, where it is data", () => {
    const data = fc.anything({
      withMap: true,
      withSet: true,
      withDate: true,
      withBigInt: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(
      fc.property(data, (value) => {
        const outcome = JSON.parse(JSON.stringify(encodeOutcome(value)))
        if (!("opaque" in outcome)) assert.deepStrictEqual(decodeOutcome(outcome), value)
      }),
      { numRuns: 300 },
    )
  })

  test("keeps what is shared and what is circular", () => {
    const row: { self?: unknown } = {}
    row.self = row
    const outcome = encodeOutcome([row, row])
    assert.ok("bytes" in outcome)
    const [one, other] = decodeOutcome(outcome) as { self: unknown }[]
    assert.ok(one && one === other && one.self === one)
  })

  test("comes back the same from a recording and from the journal of a durable run", () => {
    const data = { n: Int32Array.of(1, -2), d: new DataView(new ArrayBuffer(2)), p: /a+/giu, b: Buffer.from("hi") }
    const bare = Object.assign(Object.create(null), { rows: [Object.create(null), {}] })
    const more = [undefined, new Map([[data, new Set([-0])]]), bare, [bare, { bare }], new Map([[bare, -0]])]
    for (const value of [...Object.values(data), data, ...more]) {
      const outcome = JSON.parse(JSON.stringify(encodeOutcome(value)))
      assert.deepStrictEqual(decodeOutcome(outcome), value)
      assert.deepStrictEqual(decodeValue(JSON.parse(JSON.stringify(encodeValue(value) ?? assert.fail()))), value)
    }
    class Rates extends Map {}
    class Day extends Date {}
    class Pixels extends Uint8Array {}
    class Pattern extends RegExp {}
    const detached = new ArrayBuffer(8)
    const view = new Uint8Array(detached)
    structuredClone(detached, { transfer: [detached] })
    const used = /a/g
    used.lastIndex = 3
    const opaque: [value: unknown, what: string][] = [
      [
        {
          get rate(): number {
            return assert.fail("read")
          },
        },
        "an object with a getter or setter",
      ],
      [[new Proxy({}, { getPrototypeOf: () => assert.fail("asked") })], "a proxy"],
      [new Rates(), "a Rates"],
      [Symbol("s"), "a symbol"],
      [[new Day()], "a Day"],
      [new Pixels(2), "a Pixels"],
      [new Pattern("a"), "a Pattern"],
      [detached, "a ArrayBuffer whose memory is detached"],
      [{ view }, "a Uint8Array whose memory is detached"],
      [new Uint8Array(new SharedArrayBuffer(1)), "a Uint8Array of shared memory"],
      [used, "a RegExp with properties of its own"],
      [Object.assign(new Date(), { zone: "UTC" }), "a Date with properties of its own"],
      [Object.assign(new Map(), { rows: 1 }), "a Map with properties of its own"],
      [Object.assign([1], { rows: 1 }), "an array with properties of its own"],
      [{ [Symbol("s")]: 1 }, "an object with a symbol as a key"],
      [Object.defineProperty({}, "hidden", { value: 1 }), "an object with a hidden property"],
      [Object.create(Date.prototype), "a Date"],
      [Object.create(Array.prototype), "an object of another prototype"],
    ]
    for (const [value, what] of opaque) {
      assert.deepEqual(encodeOutcome(value), { ok: true, opaque: what })
      assert.equal(encodeValue(value), undefined)
    }
  })

  test("is named, and not kept, where it is more than data or too much", () => {
    class Light {}
    assert.deepEqual(encodeOutcome(new Light()), { ok: true, opaque: "a Light" })
    assert.deepEqual(encodeOutcome({ deep: [() => 1] }), { ok: true, opaque: "a function" })
    assert.match(JSON.stringify(encodeOutcome("x".repeat(2_000_000))), /a value of 2000002 bytes/)
  })

  test("is a tool's result again, and an error of its kind", () => {
    const given = toolResult({ text: "no", code: "bad" })
    const outcome = encodeOutcome(given)
    assert.ok(!("opaque" in outcome))
    assert.deepEqual(decodeOutcome(JSON.parse(JSON.stringify(outcome))), given)
    const denied = encodeFailure(new ApprovalDenied("not approved"))
    assert.ok(!denied.ok)
    assert.throws(() => decodeOutcome(denied), ApprovalDenied)
    const failed = encodeFailure(new RangeError("too far"))
    assert.ok(!failed.ok)
    assert.throws(() => decodeOutcome(failed), { name: "RangeError", message: "too far" })
  })

  test("is an error by which it can be told from others", () => {
    const back = (error: unknown) => decodeError(JSON.parse(JSON.stringify(encodeError(error))))
    assert.ok(back(new RangeError("Too far.")) instanceof RangeError)
    assert.equal(Reflect.get(back(Object.assign(new Error("gone"), { code: "ENOENT" })), "code"), "ENOENT")
    const ours = back(new AgentError("Later.", { code: "busy", retryable: true }))
    assert.ok(ours instanceof AgentError && ours.code === "busy" && ours.retryable)
    const cause = new RangeError("why", { cause: { rows: new Map([[1, 2]]) } })
    const failed = back(Object.assign(new TypeError("failed", { cause }), { code: 7 }))
    assert.deepStrictEqual(failed, Object.assign(new TypeError("failed", { cause }), { code: 7 }))
    assert.deepEqual(Object.keys(failed), ["code"])
    const own = back(Object.assign(new Error("own"), { name: "OwnError", cause: () => 1 }))
    assert.deepEqual([own.name, own.cause, Object.keys(own)], ["OwnError", undefined, []])
    const looped = new Error("looped")
    looped.cause = looped
    assert.equal((back(looped).cause as Error).message, "looped")
    assert.deepEqual(encodeError("thrown text"), { name: "Error", message: "thrown text" })
  })
})
