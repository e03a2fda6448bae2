// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import { trackTerminalModes } from "../../../src/providers/terminal/terminal-modes.ts"

function undoOf(...chunks: string[]): string {
  const modes = trackTerminalModes()
  for (const chunk of chunks) modes.follow(Buffer.from(chunk))
  return modes.restoreSequence()
}

describe("what a program leaves changed in a terminal", () => {
  test("is undone: another screen, a hidden cursor, the mouse, keys, margins, colours", () => {
    assert.equal(undoOf("\x1b[?1049h\x1b[?25l hello"), "\x1b[?1049l\x1b[?25h")
    assert.equal(undoOf("\x1b[?1000;1006h"), "\x1b[?1000l\x1b[?1006l")
    assert.equal(undoOf("\x1b[>1u\x1b[>5u"), "\x1b[<2u")
    assert.equal(undoOf("\x1b[>4;2m"), "\x1b[>4m")
    assert.equal(undoOf("\x1b[2;10r"), "\x1b7\x1b[r\x1b8")
    assert.equal(undoOf("\x1b[1;31mred"), "\x1b[0m")
    assert.equal(undoOf("\x1b[5 q\x1b="), "\x1b[0 q\x1b>")
  })

  test("is left alone where the program has undone it itself", () => {
    assert.equal(undoOf("\x1b[?1049h\x1b[?25l\x1b[>1u\x1b[31m", "\x1b[0m\x1b[<u\x1b[?25h\x1b[?1049l"), "")
    assert.equal(undoOf("\x1b[?1049h\x1b[>1u\x1bc"), "")
    assert.equal(undoOf("\x1b[?25l\x1b[!p"), "")
    assert.equal(undoOf("plain text, \x1b]0;a title\x07 and \x1b[2K\x1b[3A moves"), "")
  })

  test("is the same however the output is cut into pieces", () => {
    const sequences = [
      "\x1b[?1049h",
      "\x1b[?25l",
      "\x1b[?25h",
      "\x1b[>1u",
      "\x1b[<u",
      "\x1b[31m",
      "\x1b[m",
      "\x1b[3;9r",
    ]
    const piece = fc.constantFrom(...sequences, "text", "\x1b]0;t\x07", "é", "\x1b[2J")
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(200), { maxLength: 10 }), (pieces, cuts) => {
        const whole = Buffer.from(pieces.join(""))
        const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
        const modes = trackTerminalModes()
        for (const [at, start] of places.entries()) modes.follow(whole.subarray(start, places[at + 1] ?? whole.length))
        assert.equal(modes.restoreSequence(), undoOf(pieces.join("")))
      }),
    )
  })
})
