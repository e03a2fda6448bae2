import assert from "node:assert/strict"
import { test } from "node:test"
import { createSafeStream, safeLine, safeText } from "../../src/display/safe-text.ts"
import fc from "../property.ts"

const nasty: [name: string, text: string, left: string][] = [
  ["colours", "a\x1b[31;1mb\x1b[0mc", "abc"],
  ["cursor moves", "a\x1b[2J\x1b[1;1H\x1b[10Ab", "ab"],
  ["a private mode", "a\x1b[?1049hb", "ab"],
  ["a title ended by a bell", "a\x1b]0;owned\x07b", "ab"],
  ["a title ended by ST", "a\x1b]2;owned\x1b\\b", "ab"],
  ["the clipboard", "a\x1b]52;c;c2VjcmV0\x07b", "ab"],
  ["a link, whose words stay", "\x1b]8;;http://x\x1b\\here\x1b]8;;\x1b\\", "here"],
  ["a device control string", "a\x1bPq#0\x1b\\b", "ab"],
  ["a reset", "a\x1bcb", "ab"],
  ["a character set", "a\x1b(0b", "ab"],
  ["8-bit introducers", "a\x9b31mb\x9d0;t\x9cc", "abc"],
  ["backspaces and bells", "a\b\b\x07b", "ab"],
  ["text that runs backwards", "a\u202eb\u2066c", "abc"],
  ["carriage returns, which are line ends", "10%\r20%\r\n30%", "10%\n20%\n30%"],
  ["tabs, which are spaces", "a\tb", "a    b"],
  ["a sequence in a sequence", "\x1b\x1b[31m[2Ja", "[2Ja"],
  ["half a character", "a\ud83d", "a\ufffd"],
]
for (const [name, text, left] of nasty) {
  test(`${name}: nothing a terminal would obey is left`, () => assert.equal(safeText(text), left))
}

test("a sequence that never ends is shown, so nothing can hide behind it", () => {
  assert.equal(safeText("\x1b]0;rm -rf /\nnext"), "0;rm -rf /\nnext")
  const stream = createSafeStream()
  assert.equal(stream.add("\x1b]0;rm") + stream.add(" -rf\n") + stream.end(), "0;rm -rf\n")
})

test("emoji, combining marks and joiners are kept", () => {
  for (const text of ["👩‍👩‍👧 é 한국어 日本語", "e\u0301"]) assert.equal(safeText(text), text)
})

test("a line of it has no line ends", () => {
  assert.equal(safeLine(" a\n  b\r\nc "), "a b c")
})

const pieces = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "\x1b",
      "[",
      "31m",
      "]",
      "52;c;",
      "\x07",
      "\\",
      "\r",
      "\n",
      "\x9b",
      "\x9d",
      "P",
      "plain words",
      "👩‍👧",
    ),
  ),
)

test("no control character survives, whatever the text", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      assert.doesNotMatch(safeText(parts.join("")), /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/)
    }),
  )
})

test("the same text is safe in the same way however it is cut", () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const stream = createSafeStream()
      const streamed = parts.map((part) => stream.add(part)).join("") + stream.end()
      assert.equal(streamed, safeText(parts.join("")))
    }),
    { numRuns: 1000 },
  )
})
