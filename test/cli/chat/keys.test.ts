import assert from "node:assert/strict"
import { test } from "node:test"
import { createKeyReader, type Key } from "../../../src/cli/chat/keys.ts"
import fc from "../../property.ts"
import { until } from "../../waiting.ts"

function keysOf(...pieces: string[]): Key[] {
  const keys: Key[] = []
  const reader = createKeyReader((key) => keys.push(key))
  for (const piece of pieces) reader.read(piece)
  reader.end()
  return keys
}

const key = (name: string) => ({ type: "key", name })

test("typed text, control keys and sequences are told apart", () => {
  assert.deepEqual(keysOf("héllo\x1b[A\x7f\r"), [
    { type: "text", text: "héllo" },
    ...["up", "backspace", "enter"].map(key),
  ])
  assert.deepEqual(keysOf("\x1b\r", "\n", "\x1b[13;2u"), ["newline", "newline", "newline"].map(key))
  assert.deepEqual(keysOf("\x1b[1;5D\x1bf\x03\x04\x15"), [
    ...["word-left", "word-right", "interrupt", "end-of-input", "delete-to-start"].map(key),
  ])
})

test("pasted line ends do not send, and pasted sequences do nothing", () => {
  assert.deepEqual(keysOf("\x1b[200~one\r\ntwo\x1b[2J\x1b]0;t\x07\rthree\x1b[201~\r"), [
    { type: "paste", text: "one\ntwo\nthree" },
    key("enter"),
  ])
})

test("keys are the same however the input is cut into pieces", () => {
  const input = "ab\x1b[A\x1b[200~x\ny\x1b[201~日\x1b[1;5C\x1bOH\r"
  const whole = keysOf(input)
  const joined = (keys: Key[]) => {
    const list: Key[] = []
    for (const each of keys) {
      const last = list.at(-1)
      if (each.type === "text" && last?.type === "text") list.splice(-1, 1, { ...each, text: last.text + each.text })
      else list.push(each)
    }
    return list
  }
  fc.assert(
    fc.property(fc.array(fc.nat({ max: input.length })), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), input.length]
      const pieces = places.slice(1).map((end, index) => input.slice(places[index], end))
      assert.deepEqual(joined(keysOf(...pieces)), whole)
    }),
  )
})

test("escape is a key of its own when nothing follows it, and unknown sequences are ignored", async () => {
  const keys: Key[] = []
  const reader = createKeyReader((each) => keys.push(each), 5)
  reader.read("\x1b[15~\x1b[<0;3;4M\x1bq")
  assert.deepEqual(keys, [])
  reader.read("\x1b")
  await until(() => keys.length > 0)
  assert.deepEqual(keys, [key("escape")])
})
