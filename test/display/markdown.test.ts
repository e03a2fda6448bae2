import assert from "node:assert/strict"
import { PassThrough } from "node:stream"
import { test } from "node:test"
import { createMarkdown } from "../../src/display/markdown.ts"
import { tableRows } from "../../src/display/markdown-table.ts"
import { createScreen } from "../../src/display/screen.ts"
import { createTextFlow } from "../../src/display/text-flow.ts"
import fc from "../property.ts"

function render(pieces: string[], { color = false, columns = 0 } = {}): string {
  const stream = Object.assign(new PassThrough(), columns ? { isTTY: true, columns } : {})
  const screen = createScreen(stream, { color })
  const flow = createTextFlow(screen, { first: "", rest: "" })
  const markdown = createMarkdown(flow, screen.paint)
  for (const piece of pieces) markdown.add(piece)
  markdown.end()
  flow.end()
  return String(stream.read() ?? "")
}

/** Draws a text that arrives in pieces, for a screen of some columns. */
function drawn(text: string, columns: number, size = 7): string {
  const stream = new PassThrough()
  const screen = createScreen(stream, { color: false })
  const flow = createTextFlow(screen, { first: "", rest: "", columns })
  const markdown = createMarkdown(flow, screen.paint, columns)
  for (let at = 0; at < text.length; at += size) markdown.add(text.slice(at, at + size))
  markdown.end()
  flow.end()
  return String(stream.read() ?? "").trimEnd()
}

test("marks are drawn, not shown", () => {
  assert.equal(
    render(["## A title\n\nSome **bold**, *italic*, __bold__ and `code`."]),
    "A title\n\nSome bold, italic, bold and code.\n",
  )
  assert.equal(render(["**a** `b`"], { color: true }), "\x1b[1ma\x1b[22m \x1b[36mb\x1b[39m\n")
})

test("lists get bullets, keep their numbers and hang where they wrap", () => {
  assert.equal(render(["- one\n* two\n  - inner\n12. twelve"]), "• one\n• two\n  • inner\n12. twelve\n")
  assert.equal(render(["- one two three four five six"], { columns: 21 }), "• one two three four\n  five six\n")
})

test("quotes, rules and fences of other languages are drawn", () => {
  assert.equal(
    render(["> said\n\n---\n\n```json\n{ **not bold** }\n```\nafter"]),
    "│ said\n\n────────\n\n{ **not bold** }\nafter\n",
  )
})

test("marks that mean nothing are characters", () => {
  for (const text of [
    "2 ** 3 ** 4",
    "snake_case_name",
    "a * b * c",
    "C:\\Users\\me",
    "it`s",
    "**open",
    "#tag",
    "1.5",
  ]) {
    assert.equal(render([text]), `${text}\n`)
  }
})

test("a backslash takes a mark its meaning", () => {
  assert.equal(render(["\\*not italic\\* and \\`not code\\`"]), "*not italic* and `not code`\n")
})

test("code in bold is bold", () => {
  assert.equal(
    render(["**the `x` value**"], { color: true }),
    "\x1b[1mthe\x1b[22m \x1b[1mx\x1b[22m \x1b[1mvalue\x1b[22m\n",
  )
})

test("text appears as it comes, word by word, and only an open span is held", () => {
  const stream = new PassThrough()
  const screen = createScreen(stream, { color: false })
  const flow = createTextFlow(screen, { first: "", rest: "" })
  const markdown = createMarkdown(flow, screen.paint)
  markdown.add("Some words **and a bo")
  assert.equal(String(stream.read()), "Some words")
  markdown.add("ld one** more")
  assert.equal(String(stream.read()), " and a bold one")
})

const text = fc
  .array(
    fc.constantFrom(
      "word",
      " ",
      "\n",
      "\n\n",
      "- ",
      "# ",
      "1. ",
      "*",
      "**",
      "`",
      "```",
      "> ",
      "\\",
      "日本",
      "_",
      "a_b",
      "---",
    ),
  )
  .map((parts) => parts.join(""))

test("no line is wider than the terminal, unless one character is", () => {
  fc.assert(
    fc.property(text, (words) => {
      for (const line of render([words], { columns: 21 }).split("\n")) {
        assert.ok(line.replace(/[日本]/g, "xx").length <= 20, JSON.stringify(line))
      }
    }),
  )
})

test("prose without marks comes out as it went in", () => {
  const prose = fc.array(fc.constantFrom("some", "words", "日本語", "1,5 %", "e\u0301")).map((words) => words.join(" "))
  fc.assert(
    fc.property(prose, fc.integer({ min: 1, max: 5 }), (words, size) => {
      const cut = words.match(new RegExp(`[\\s\\S]{1,${size}}`, "gu")) ?? []
      assert.equal(render(cut).trimEnd(), words)
    }),
  )
})

test("a table has aligned columns, and cells that are too long are wrapped between words", () => {
  const table = [
    "Before:",
    "",
    "| name | amount | note |",
    "|---|--:|:---|",
    "| **apples** | 12 | `a | b` is fine, and this note is longer than its column |",
    "| 日本 | 1,200.5 | |",
    "",
    "After.",
  ].join("\n")
  for (const size of [1, 3, 500]) {
    const lines = drawn(table, 40, size).split("\n")
    assert.deepEqual(lines.slice(0, 5), [
      "Before:",
      "",
      "name     amount  note",
      "──────  ───────  ───────────────────────",
      "apples       12  a | b is fine, and this",
    ])
    assert.ok(lines.includes("日本    1,200.5"), lines.join("\n"))
    assert.equal(lines.at(-1), "After.")
  }
})

test("rows without a rule below the first one stay as they were written, and a table of too many columns is a list", () => {
  assert.equal(drawn("| not a table\nbut text", 40), "| not a table\nbut text")
  const head = ["a", "b", "c", "d", "e", "f"]
  const wide = [head, head.map(() => "---"), head.map((name) => `${name}1`)].map((row) => `|${row.join("|")}|`)
  assert.match(drawn(wide.join("\n"), 30), /^a: a1\nb: b1\n/)
})

test("links show their text and address, and other brackets are text", () => {
  assert.equal(
    drawn("See [the docs](https://karst.dev/a_b) and [x] or list[0](y z).", 90),
    "See the docs (https://karst.dev/a_b) and [x] or list[0](y z).",
  )
  assert.equal(drawn("[https://karst.dev](https://karst.dev)", 90), "https://karst.dev")
})

test("a table row of many code spans that ends in a backslash is read at once", () => {
  const row = `| ${"`a".repeat(5001)}\\\u2028`
  assert.deepEqual(tableRows([row, "|-|", "| `b|c` | d\\|e |"])?.[1], ["b|c", "d|e"])
})
