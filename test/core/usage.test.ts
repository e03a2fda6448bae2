import assert from "node:assert/strict"
import { describe, test } from "node:test"
import {
  addUsage,
  cliReportedUsage,
  estimateTokens,
  noUsage,
  totalTokens,
  type Usage,
  withCost,
} from "../../src/core/usage.ts"
import { readAcpUsage } from "../../src/providers/acp/acp-updates.ts"
import fc from "../property.ts"

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

  test("of a CLI that reports an input of 0 is unknown, but for its cost", () => {
    assert.deepEqual(cliReportedUsage({ input: 0, output: 0, cacheRead: 0, complete: true }), { complete: false })
    assert.deepEqual(cliReportedUsage({ input: 0, output: 5, costUsd: 0.1, complete: true }), {
      costUsd: 0.1,
      complete: false,
    })
    const counted = { input: 5, output: 0, complete: true }
    assert.equal(cliReportedUsage(counted), counted)
    assert.deepEqual(readAcpUsage({ usage: { inputTokens: 0, outputTokens: 0 } }), { complete: false })
  })

  test("has no total when nothing is known", () => {
    assert.equal(totalTokens({ complete: false }), undefined)
    assert.equal(totalTokens({ output: 5, complete: false }), 5)
  })

  test("prices cached tokens at their own rate", () => {
    const usage = { input: 1_000_000, cacheRead: 400_000, output: 100_000, complete: true }
    const price = { input: 2, output: 10, cacheRead: 0.5 }
    assert.equal(withCost(usage, price).costUsd, 0.6 * 2 + 0.4 * 0.5 + 1)
  })

  test("has no cost without a price or without tokens", () => {
    assert.equal(withCost({ input: 1, complete: true }, undefined).costUsd, undefined)
    assert.equal(withCost({ complete: false }, { input: 1, output: 1 }).costUsd, undefined)
  })

  test("estimates Chinese, Japanese and Korean at no less than real tokenizers count", () => {
    // Counted once with the encodings o200k_base and cl100k_base.
    const counted: [text: string, o200k: number, cl100k: number][] = [
      [
        "人工智能技术正在迅速改变各行各业的工作方式。许多企业开始使用智能助手来处理日常任务，例如撰写邮件、整理资料和分析数据。",
        39,
        60,
      ],
      [
        "臺灣的夜市文化非常豐富，遊客可以品嚐到蚵仔煎、臭豆腐與珍珠奶茶等各式小吃，攤販們總是熱情地招呼著每一位顧客。",
        57,
        89,
      ],
      ["學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？", 34, 53],
      [
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。",
        61,
        78,
      ],
      ["コンピュータープログラミングにおけるアルゴリズムとデータストラクチャ", 24, 33],
      [
        "인공지능 기술은 우리 생활의 많은 부분을 빠르게 바꾸고 있으며, 앞으로 더 많은 분야에서 활용될 것으로 예상됩니다.",
        29,
        63,
      ],
      ["훈민정음은 세종대왕이 창제한 뷁쉛꽳 글자이다", 24, 35],
      ["ㅋㅋㅋㅎㅎㅠㅠ", 5, 14],
      ["𠀋𠂉𠮷𡈽𡌛", 19, 19],
    ]
    for (const [text, o200k, cl100k] of counted) {
      assert.ok(estimateTokens(text) >= Math.max(o200k, cl100k), `${text}: ${estimateTokens(text)}`)
    }
  })

  test("estimates numbers, ids, tables and encoded bytes at about what real tokenizers count", () => {
    // Counted as above: the larger of the two.
    const counted: [text: string, tokens: number][] = [
      ["550e8400-e29b-41d4-a716-446655440000, 7d9f3c2a-1b4e-4f6a-9c8d-0e5b7a6f4d21", 55],
      ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43],
      ["c2VjcmV0LXRva2VuOjEyMzQ1Njc4OTA6YWJjZGVmZ2hpamtsbW5vcA==", 41],
      ["3.14159, 2.71828, 1.41421, 1.61803, 0.57721", 28],
      ["1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9", 37],
      ["2024-05-01T12:30:45.123Z,2024-06-11T02:03:04.567Z", 31],
      ['{"id":17,"name":"Ada","tags":["a","b"],"price":12.5,"ok":true}', 26],
      ["| 12 | abc | 0.173 |\n| 13 | abcabc | 9.021 |", 23],
    ]
    for (const [text, tokens] of counted) {
      const ratio = estimateTokens(text) / tokens
      assert.ok(ratio >= 0.95 && ratio <= 1.35, `${text}: ${estimateTokens(text)} of ${tokens}`)
    }
  })

  test("estimates English near four characters a token", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(20)
    const ratio = text.length / estimateTokens(text)
    assert.ok(ratio > 2.5 && ratio < 4.5, String(ratio))
  })
})
