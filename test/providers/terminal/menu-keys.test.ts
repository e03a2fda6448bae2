// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createMenuKeyReader } from "../../../src/providers/terminal/menu-keys.ts"

function pressed(...chunks: string[]): string[] {
  const told: string[] = []
  const keys = createMenuKeyReader((key) => told.push(key))
  for (const chunk of chunks) keys.read(chunk)
  keys.end()
  return told
}

describe("the keys of a menu", () => {
  const table: [name: string, typed: string, means: string[]][] = [
    ["the arrow up", "\x1b[A", ["up"]],
    ["the arrow up of other terminals", "\x1bOA", ["up"]],
    ["k", "k", ["up"]],
    ["the arrow down", "\x1b[B", ["down"]],
    ["the arrow down of other terminals", "\x1bOB", ["down"]],
    ["j", "j", ["down"]],
    ["Enter", "\r", ["choose"]],
    ["Ctrl-J", "\n", ["choose"]],
    ["q", "q", ["cancel"]],
    ["Ctrl-C", "\x03", ["cancel"]],
    ["Ctrl-D", "\x04", ["cancel"]],
    ["other keys", "x\x1b[C\x1b[5~7\x1b[1;5A", []],
    ["several at once", "jj\x1b[Ak\r", ["down", "down", "up", "up", "choose"]],
  ]
  for (const [name, typed, means] of table) {
    test(`${name}: ${means.join(", ") || "nothing"}`, () => assert.deepEqual(pressed(typed), means))
  }

  test("an arrow may come in pieces", () => {
    assert.deepEqual(pressed("\x1b", "[", "B\r"), ["down", "choose"])
  })

  test("Escape means to leave once nothing follows it", async () => {
    const told = await new Promise((resolve) => createMenuKeyReader(resolve, 1).read("\x1b"))
    assert.equal(told, "cancel")
  })
})
