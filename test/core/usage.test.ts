import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import { addUsage, estimateTokens, noUsage, priced, totalTokens, type Usage } from "../../src/core/usage.ts"

const count = fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: undefined })
const usages: fc.Arbitrary<Usage> = fc
  .record({ input: count, output: count, cacheRead: count, reasoning: count, complete: fc.boolean() })
  .map(
    (usage) => Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined)) as unknown as Usage,
  )

describe("usage", () => {
  test("sums what is known and never invents a zero", () => {
    const sum = addUsage({ input: 3, complete: true }, { input: 4, output: 1, complete: true })
    assert.deepEqual(sum, { input: 7, output: 1, complete: true })
    assert.equal("cacheRead" in sum, false)
  })

  test("is incomplete as soon as one part is", () => {
    assert.equal(addUsage({ input: 1, complete: true }, { complete: false }).complete, false)
  })

  test("adds up the same in any order and grouping", () => {
    fc.assert(
      fc.property(usages, usages, usages, (a, b, c) => {
        assert.deepEqual(addUsage(addUsage(a, b), c), addUsage(a, addUsage(b, c)))
        assert.deepEqual(addUsage(a, b), addUsage(b, a))
        assert.deepEqual(addUsage(a, noUsage), a)
      }),
    )
  })

  test("has no total when nothing is known", () => {
    assert.equal(totalTokens({ complete: false }), undefined)
    assert.equal(totalTokens({ output: 5, complete: false }), 5)
  })

  test("prices cached tokens at their own rate", () => {
    const usage = { input: 1_000_000, cacheRead: 400_000, output: 100_000, complete: true }
    const price = { input: 2, output: 10, cacheRead: 0.5 }
    assert.equal(priced(usage, price).costUsd, 0.6 * 2 + 0.4 * 0.5 + 1)
  })

  test("has no cost without a price or without tokens", () => {
    assert.equal(priced({ input: 1, complete: true }, undefined).costUsd, undefined)
    assert.equal(priced({ complete: false }, { input: 1, output: 1 }).costUsd, undefined)
  })

  test("estimates at least one token for each Chinese, Japanese or Korean character", () => {
    for (const text of ["今天天气怎么样", "こんにちは世界", "안녕하세요"])
      assert.ok(estimateTokens(text) >= text.length)
  })

  test("estimates English near four characters a token", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(20)
    const ratio = text.length / estimateTokens(text)
    assert.ok(ratio > 2.5 && ratio < 4.5, String(ratio))
  })
})
