// test lane: durable
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
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

describe("what a call came to", () => {
  test("comes back from JSON as it was, where it is data", () => {
    const data = fc.anything({ withMap: true, withSet: true, withDate: true, withBigInt: true, withTypedArray: false })
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
    for (const value of [...Object.values(data), data, undefined, new Map([[data, new Set([-0])]])]) {
      const outcome = JSON.parse(JSON.stringify(encodeOutcome(value)))
      assert.deepStrictEqual(decodeOutcome(outcome), value)
      assert.deepStrictEqual(decodeValue(JSON.parse(JSON.stringify(encodeValue(value) ?? assert.fail()))), value)
    }
    class Rates extends Map {}
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
    assert.deepEqual(encodeError("thrown text"), { name: "Error", message: "thrown text" })
  })
})
