import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { ConfigError } from "../../src/core/errors.ts"
import { defaultCompactAt, estimateForTokens, requestSize } from "../../src/memory/request-size.ts"
import { isFull, type MemoryState, resolveMemory, withMeasurement } from "../../src/memory.ts"
import { scriptedModel } from "../../src/models/scripted.ts"
import fc from "../property.ts"
import { ask, memoryConversation, say } from "./memory-helpers.ts"

const windows = fc.integer({ min: 1, max: 2_000_000 })
const state = { failures: 0, skips: 0 }

describe("the limit of a conversation", () => {
  test("is 99,000 of 128,000 tokens, and about 77 % of any window", () => {
    assert.equal(defaultCompactAt(128_000), 99_000)
    assert.equal(defaultCompactAt(5000), 3867)
    assert.equal(defaultCompactAt(1_000_000), 773_437)
  })

  test("never shrinks when the window grows, whatever an answer may take", () => {
    fc.assert(
      fc.property(windows, windows, fc.nat({ max: 200_000 }), (a, b, output) => {
        const [small, large] = a < b ? [a, b] : [b, a]
        assert.ok(defaultCompactAt(small, output) <= defaultCompactAt(large, output))
        assert.ok(defaultCompactAt(large, output) <= large)
        assert.ok(defaultCompactAt(large, output) >= Math.floor(large / 4))
      }),
    )
  })

  test("leaves room for the longest answer that was asked for", () => {
    assert.equal(defaultCompactAt(200_000, 64_000), 136_000)
  })

  test("is what `compactAtTokens` says, and refuses what is no number of tokens", () => {
    const agent = { model: scriptedModel([]), contextWindow: 128_000 }
    assert.equal(resolveMemory({ compactAtTokens: 7000 }, agent).compactAtTokens, 7000)
    assert.equal(resolveMemory({ compactAtTokens: Infinity }, agent).compactAtTokens, Infinity)
    assert.equal(resolveMemory({}, agent).keepResults, 6)
    assert.throws(() => resolveMemory({ compactAtTokens: 0 }, agent), ConfigError)
    assert.throws(() => resolveMemory({ keepResults: -1 }, agent), ConfigError)
  })
})

describe("the size of a request", () => {
  const counts = fc.integer({ min: 1, max: 1_000_000 })
  const known = fc.record({ tokens: counts, estimate: counts }).map((measured): MemoryState => ({ ...state, measured }))

  test("is what the provider counted, plus the estimate of what came since", () => {
    const counted = withMeasurement(state, 1000, 1500)
    assert.equal(requestSize(counted, 1500), 1000)
    assert.equal(requestSize(counted, 1700), 1200)
    assert.equal(requestSize(counted, 750), 500)
    assert.equal(requestSize(withMeasurement(state, undefined, 1500), 1700), 1700)
  })

  test("grows with the conversation, and can be turned back into an estimate", () => {
    fc.assert(
      fc.property(known, counts, counts, (state, a, b) => {
        if (a <= b) assert.ok(requestSize(state, a) <= requestSize(state, b) + 1e-6)
        const there = requestSize(state, a)
        assert.ok(Math.abs(estimateForTokens(state, there) - a) < 1e-3 * a + 1e-3)
      }),
    )
  })

  test("counts images and the system prompt, and what was measured above an estimate", () => {
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const
    const { services } = memoryConversation([{ ...ask("look"), parts: [image, image] }], { compactAtTokens: 3500 })
    assert.equal(isFull(state, services), false)
    assert.equal(isFull(state, { ...services, systemTokens: 600 }), true)
    assert.equal(isFull(withMeasurement(state, 900, 3008), { ...services, systemTokens: 600 }), false)
  })

  test("of a long conversation is known from what is new", () => {
    const { services, messages } = memoryConversation([ask("a")], { compactAtTokens: 100 })
    assert.equal(isFull(state, services), false)
    messages.push(say("x ".repeat(300)))
    assert.equal(isFull(state, services), true)
  })
})
