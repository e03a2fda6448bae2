import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { layoutEditor } from "../../../src/cli/chat/editor-view.ts"
import type { KeyName } from "../../../src/cli/chat/keys.ts"
import { type EditedText, editedText, emptyText, insertText, pressEditKey } from "../../../src/cli/chat/line-editor.ts"
import { graphemes, textWidth } from "../../../src/display/text-width.ts"
import fc from "../../property.ts"

const editKeys: KeyName[] = [
  ...(["newline", "backspace", "delete", "delete-word", "delete-to-start", "delete-to-end"] as const),
  ...(["left", "right", "up", "down", "word-left", "word-right", "line-start", "line-end"] as const),
]
const pieces = fc.constantFrom("a", " ", "word", "日本", "👩‍👩‍👧", "e\u0301", "\u0301", "🇩🇪", "\n", "x y\nz")
const steps = fc.array(
  fc.oneof(
    pieces.map((text) => ({ text })),
    fc.constantFrom(...editKeys).map((key) => ({ key })),
  ),
)

function apply(list: ({ text: string } | { key: KeyName })[]): EditedText {
  return list.reduce<EditedText>(
    (edited, step) => ("text" in step ? insertText(edited, step.text) : (pressEditKey(edited, step.key) ?? edited)),
    emptyText,
  )
}

function boundaries(text: string): Set<number> {
  const found = new Set([0])
  let at = 0
  for (const grapheme of graphemes(text)) {
    at += grapheme.length
    found.add(at)
  }
  return found
}

describe("the line editor", () => {
  test("keeps the cursor between two characters whatever is typed", () => {
    fc.assert(fc.property(steps, (list) => boundaries(apply(list).text).has(apply(list).cursor)))
  })

  test("does not change the text by moving", () => {
    const moves = fc.array(
      fc.constantFrom<KeyName>("left", "right", "up", "down", "word-left", "word-right", "line-end"),
    )
    fc.assert(
      fc.property(steps, moves, (list, keys) => {
        const edited = apply(list)
        const moved = keys.reduce((now, key) => pressEditKey(now, key) ?? now, edited)
        assert.equal(moved.text, edited.text)
        assert.ok(boundaries(moved.text).has(moved.cursor))
      }),
    )
  })

  test("removes with backspace exactly the character before the cursor", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const edited = apply(list)
        const removed = pressEditKey(edited, "backspace")
        const before = graphemes(edited.text.slice(0, edited.cursor))
        assert.equal(removed?.text, before.slice(0, -1).join("") + edited.text.slice(edited.cursor))
      }),
    )
  })

  test("reaches the end of every text by going right, and its start by going left", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { text } = apply(list)
        const count = graphemes(text).length
        const go = (from: EditedText, key: KeyName) =>
          Array.from({ length: count }).reduce<EditedText>((now) => pressEditKey(now, key) ?? now, from)
        assert.equal(go({ text, cursor: 0 }, "right").cursor, text.length)
        assert.equal(go(editedText(text), "left").cursor, 0)
      }),
    )
  })

  test("moves by words and lines, and deletes them", () => {
    const edited = editedText("first line\nsecond word")
    assert.equal(pressEditKey(edited, "word-left")?.cursor, 18)
    assert.equal(pressEditKey(edited, "delete-word")?.text, "first line\nsecond ")
    assert.equal(pressEditKey(edited, "delete-to-start")?.text, "first line\n")
    assert.equal(pressEditKey(edited, "up")?.cursor, 10)
    assert.equal(pressEditKey(edited, "down"), undefined)
    assert.equal(pressEditKey({ ...edited, cursor: 3 }, "up"), undefined)
    assert.equal(pressEditKey({ ...edited, cursor: 10 }, "delete-to-end")?.text, "first linesecond word")
  })
})

describe("the layout of the editor", () => {
  test("fits the width, shows every character and has the cursor before its character", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 5, max: 30 }), (list, columns) => {
        const edited = apply(list)
        const { lines, row, column } = layoutEditor(edited, { mark: "❯ ", columns, maxRows: 1000 })
        for (const line of lines) assert.ok(textWidth(line) <= columns, JSON.stringify(line))
        assert.equal(lines.map((line) => line.slice(2)).join(""), edited.text.replaceAll("\n", ""))
        assert.ok(row < lines.length && column <= columns)
        const next = graphemes(edited.text.slice(edited.cursor))[0]
        const line = lines[row] ?? ""
        // A terminal joins an accent at the start of a line to the space before it, so that it has no width of its own.
        const shown = graphemes(line.slice(2))
        const isBeforeNext = shown.some((_, at) => {
          const width = 2 + textWidth(shown.slice(0, at).join(""))
          return (
            width === column &&
            shown
              .slice(at)
              .join("")
              .startsWith(next ?? "")
          )
        })
        if (next !== undefined && next !== "\n") assert.ok(isBeforeNext, JSON.stringify([line, column, next]))
      }),
    )
  })

  test("shows the lines around the cursor of a long text", () => {
    const text = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n")
    const { lines, row } = layoutEditor(
      { text, cursor: text.indexOf("line 25") },
      { mark: "❯ ", columns: 40, maxRows: 5 },
    )
    assert.equal(lines.length, 5)
    assert.equal(lines[row], "  line 25")
  })
})
