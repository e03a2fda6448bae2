// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type AssistantMessage, type Message, type ResultMessage, userMessage } from "../../../src/core/message.ts"
import { handoffText } from "../../../src/providers/fallback/handoff-text.ts"
import fc from "../../property.ts"

const said = (text: string, ...calls: string[]): AssistantMessage => ({
  id: "m",
  role: "assistant",
  parts: [
    { type: "text", text },
    ...calls.map((id) => ({ type: "tool-call" as const, id, name: "Write", input: { file: `${id}.ts` } })),
  ],
})
const failed = (id: string): ResultMessage => ({
  id: "r",
  role: "result",
  parts: [{ type: "tool-result", id, name: "Write", ok: false, text: "no" }],
})
const handoff = (messages: Message[], maxChars?: number, files: string[] = []) =>
  handoffText({ from: "claude", reason: "its limit is reached.", messages, files, maxChars })

describe("what is handed over", () => {
  test("is what was asked, done and said last, with the files that changed", () => {
    const host = userMessage("what we said ourselves", "host")
    const messages = [
      userMessage("First task"),
      said("On it", "a", "b"),
      failed("b"),
      host,
      userMessage("Second task"),
      said("Done"),
    ]
    assert.equal(
      handoff(messages, undefined, ["a.ts"]),
      [
        "You take over the work of another agent (claude), which cannot go on: its limit is reached. This is from its record. What " +
          "it did is done: look at how things stand before you do any of it again.",
        "Asked so far, the newest last:\n- First task\n- Second task",
        'Done so far, the newest last:\n- Write {"file":"a.ts"}\n- Write {"file":"b.ts"} (failed)',
        "Files made or changed:\n- a.ts",
        "Said last:\n- Done",
        "What you are asked for now follows.",
      ].join("\n\n"),
    )
  })

  test("keeps the newest of what is too long, and says that there was more", () => {
    const messages = Array.from({ length: 500 }, (_, at) => userMessage(`Task ${at} ${"x".repeat(50)}`))
    const text = handoff(messages, 2000)
    assert.match(text, /- \(\d+ before these are left out\)/)
    assert.ok(text.includes("Task 499") && !text.includes("Task 0 "))
  })

  test("is never longer than it may be", () => {
    const message = fc.oneof(
      fc.string({ maxLength: 4000 }).map((text) => userMessage(text)),
      fc
        .tuple(fc.string({ maxLength: 4000 }), fc.array(fc.string({ maxLength: 500 })))
        .map(([text, calls]) => said(text, ...calls)),
    )
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 40 }),
        fc.array(fc.string({ maxLength: 300 })),
        fc.string({ maxLength: 1000 }),
        fc.integer({ min: 2000, max: 20_000 }),
        (messages, files, reason, maxChars) => {
          const text = handoffText({ from: "claude", reason, messages, files, maxChars })
          assert.ok(text.length <= maxChars, `${text.length} of ${maxChars}`)
        },
      ),
    )
  })
})
