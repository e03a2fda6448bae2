import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { fenced, messageText, newId, userMessage } from "../../src/core/message.ts"

describe("messages", () => {
  test("have ids that differ", () => {
    assert.equal(new Set(Array.from({ length: 1000 }, () => newId("m"))).size, 1000)
  })

  test("lose lone surrogates, which no provider accepts", () => {
    assert.deepEqual(userMessage("a\ud800b").parts, [{ type: "text", text: "a\ufffdb" }])
  })

  test("carry images beside text", () => {
    const message = userMessage([
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data: "AAAA" },
    ])
    assert.equal(messageText(message), "What is this?\n[image image/png]")
  })

  test("show code in a fence longer than any inside it", () => {
    const code = "~~~\n```\nx\n"
    assert.equal(fenced({ type: "code", id: "c", tag: "ts", code, closed: true }), `\`\`\`\`ts\n${code}\`\`\`\``)
  })
})
