// test lane: clis
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { trackTerminalModes } from "../../../src/providers/terminal/terminal-modes.ts"
import fc from "../../property.ts"
import { createTerminalModel } from "./terminal-model.ts"

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

  test("keeps its screen and its reporting of the mouse after a soft reset, and nothing after a full one", () => {
    const changes = "\x1b[?1049h\x1b[?1000;1006;1004;2004h\x1b[?25l\x1b[?1h\x1b[31m\x1b[2;5r\x1b=\x1b[4h"
    assert.equal(undoOf(`${changes}\x1b[!p`), "\x1b[?1049l\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?2004l")
    assert.equal(undoOf(`${changes}\x1bc`), "")
  })

  const reset = "\x1b[0m"
  const styles: { [parameters: string]: string } = {
    "": "",
    "0": "",
    "00": "",
    "1;0": "",
    "1;": "",
    ";1": reset,
    "0;1": reset,
    "1;31": reset,
    "38;5;0": reset,
    "48;5;0": reset,
    "58;5;0": reset,
    "38;2;9;9;0": reset,
    "0;38;5;": reset,
    "38:5:0": reset,
    "38:2::9:9:0": reset,
    "4:3": reset,
    "1;4:0": reset,
  }
  for (const [parameters, undone] of Object.entries(styles)) {
    test(`is ${undone ? "a style" : "no style"} after CSI ${parameters} m, also if it was red before`, () => {
      assert.equal(undoOf(`\x1b[${parameters}m`), undone)
      assert.equal(undoOf(`\x1b[31m\x1b[${parameters}m`), undone)
    })
  }

  test("is read from sequences with empty numbers, leading zeros, and several modes of which some are undone", () => {
    assert.equal(undoOf("\x1b[?h\x1b[?;l\x1b[;r\x1b[0;0r\x1b[>m"), "")
    assert.equal(undoOf("\x1b[?1000;;0025l"), "\x1b[?25h")
    assert.equal(undoOf("\x1b[?1000;1002;1006h\x1b[?1006;1000l"), "\x1b[?1002l")
    assert.equal(undoOf("\x1b[?7;8;25h\x1b[12h"), "")
    assert.equal(undoOf("\x1b[4;20h"), "\x1b[4l\x1b[20l")
    assert.equal(undoOf("\x1b[>4;2m\x1b[>1;3m"), "\x1b[>4m\x1b[>1m")
    assert.equal(undoOf("\x1b[>4;2m\x1b[>1;3m\x1b[>m"), "")
    assert.equal(undoOf("\x1b[>1u\x1b[<0u"), "")
  })

  test("is left alone in sequences of other kinds", () => {
    assert.equal(undoOf("\x1b[?4m\x1b[?31r\x1b[31$r\x1b[1;31#{\x1b[5!q\x1b[=1c\x1b(c"), "")
  })

  test("is undone on the screen that it belongs to", () => {
    assert.equal(undoOf("\x1b[>1u\x1b[?1049h\x1b[>1u\x1b[>1u"), "\x1b[<2u\x1b[?1049l\x1b[<1u")
    assert.equal(undoOf("\x1b[?1049h\x1b[>1u\x1b[?47l"), "")
    // The alternate screen gives back the style that was saved with the cursor.
    assert.equal(undoOf("\x1b[31m\x1b[?1049h\x1b[0m"), "\x1b[?1049l\x1b[0m")
  })

  test("is nothing in a model of a terminal once the sequence is written, whatever the program wrote", () => {
    const listOf = (...values: string[]) => fc.array(fc.constantFrom(...values), { maxLength: 4 })
    const numbers = listOf("", "0", "1", "2", "5", "38", "48", "4:3", "38:5:0")
    const modes = listOf("", "1", "6", "7", "25", "47", "1000", "1006", "1047", "1048", "1049", "2004")
    const csi = (prefix: string, parameters: fc.Arbitrary<string[]>, end: string) =>
      parameters.map((list) => `\x1b[${prefix}${list.join(";")}${end}`)
    const written = fc.oneof(
      csi("", numbers, "m"),
      csi("?", modes, "h"),
      csi("?", modes, "l"),
      csi("", fc.subarray(["4", "20"]), "h"),
      csi("", fc.subarray(["4", "20"]), "l"),
      csi(">", fc.subarray(["1"]), "u"),
      csi("<", fc.subarray(["2"]), "u"),
      csi(">", fc.subarray(["4", "1", "2"]), "m"),
      csi("", fc.subarray(["2", "9"]), "r"),
      csi("", fc.subarray(["5"]), " q"),
      fc.constantFrom(
        "\x1b[!p",
        "\x1bc",
        "\x1b7",
        "\x1b8",
        "\x1b[s",
        "\x1b[u",
        "\x1b=",
        "\x1b>",
        "text",
        "\x1b[2",
        "é",
      ),
      fc.constantFrom("\x1b]0;a title\x07", "\x1b[2J", "\x1b[?31;4", "\x1b(B", "\x1b[3A"),
    )
    fc.assert(
      fc.property(fc.array(written, { maxLength: 20 }), fc.infiniteStream(fc.nat(9)), (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(""))
        const modes = trackTerminalModes()
        for (let at = 0; at < bytes.length; ) {
          const size = (sizes.next().value ?? 0) + 1
          modes.follow(bytes.subarray(at, at + size))
          at += size
        }
        const terminal = createTerminalModel()
        terminal.write(String(bytes))
        terminal.write(modes.restoreSequence())
        assert.deepEqual(terminal.state(), createTerminalModel().state())
      }),
      { numRuns: 3000 },
    )
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
