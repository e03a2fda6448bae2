import assert from "node:assert/strict"
import { test } from "node:test"
import { createHighlighter, type Segment } from "../../src/display/highlight.ts"
import fc from "../property.ts"

/** Each character with its style, so that highlighting compares equal however the text was cut. */
function styles(segments: Segment[]): [string, string][] {
  return segments.flatMap(({ text, style }) => text.split("").map((sign): [string, string] => [sign, style]))
}

function highlight(language: string, ...pieces: string[]): Segment[] {
  const highlighter = createHighlighter(language)
  return [...pieces.flatMap((piece) => highlighter.add(piece)), ...highlighter.end()]
}

function styleOf(code: string, word: string, language = "ts"): string | undefined {
  const at = code.indexOf(word)
  return styles(highlight(language, code))[at]?.[1]
}

test("keywords, strings, numbers, comments, calls and types each have their look", () => {
  const code = 'const light = await find("hall", 20) // the big one\nlet x: Light = null'
  assert.equal(styleOf(code, "const"), "magenta")
  assert.equal(styleOf(code, "light"), "plain")
  assert.equal(styleOf(code, "find"), "blue")
  assert.equal(styleOf(code, '"hall"'), "green")
  assert.equal(styleOf(code, "20"), "yellow")
  assert.equal(styleOf(code, "// the"), "dim")
  assert.equal(styleOf(code, "Light ="), "cyan")
  assert.equal(styleOf(code, "null"), "yellow")
})

test("a template is a string and what it embeds is code, nested ones too", () => {
  const code = "`a ${b({ c: `d ${1}` })} e` + f"
  assert.equal(styleOf(code, "a"), "green")
  assert.equal(styleOf(code, "b("), "blue")
  assert.equal(styleOf(code, "d "), "green")
  assert.equal(styleOf(code, "1"), "yellow")
  assert.equal(styleOf(code, " e`"), "green")
  assert.equal(styleOf(code, "f"), "plain")
})

test("a slash divides after a value and opens a regular expression elsewhere", () => {
  const code = "const half = total / 2 / n\nconst found = /['`/]*/g.test(text)"
  assert.equal(styleOf(code, "/ 2"), "plain")
  assert.equal(styleOf(code, "/['"), "red")
  assert.equal(styleOf(code, "test"), "blue")
})

test("comments and triple quotes go on over lines", () => {
  assert.equal(styleOf("/* a\n b */ c", "b"), "dim")
  assert.equal(styleOf("/* a\n b */ c", "c"), "plain")
  assert.equal(styleOf('x = """a\nb""" + c', "b", "python"), "green")
  assert.equal(styleOf('x = """a\nb""" + c', "c", "python"), "plain")
})

test("python has its own keywords, comments, decorators and string prefixes", () => {
  const code = "@cache\ndef load(path: str):  # reads\n    return f'{path}' if None else 1.5"
  assert.equal(styleOf(code, "@cache", "python"), "cyan")
  assert.equal(styleOf(code, "def", "py"), "magenta")
  assert.equal(styleOf(code, "load", "python"), "blue")
  assert.equal(styleOf(code, "# reads", "python"), "dim")
  assert.equal(styleOf(code, "f'", "python"), "green")
  assert.equal(styleOf(code, "None", "python"), "yellow")
})

test("an unknown language is left plain", () => {
  assert.deepEqual(highlight("cobol", "MOVE 1 TO X"), [{ text: "MOVE 1 TO X", style: "plain" }])
})

test("a finished line is drawn at once, up to its last token", () => {
  const highlighter = createHighlighter("ts")
  const drawn = highlighter.add("const a = 1\nconst b").map(({ text }) => text)
  assert.equal(drawn.join(""), "const a = 1\nconst ")
})

const code = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "const x",
        " = ",
        "`a",
        "${",
        "}",
        "`",
        "/*",
        "*/",
        "// c",
        "\n",
        '"s',
        '\\"',
        '"',
        "'",
        '"""',
        "/",
        "1.5",
      ),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(""))

for (const language of ["ts", "python"]) {
  test(`nothing of the code is lost and the cuts do not matter: ${language}`, () => {
    fc.assert(
      fc.property(code, fc.integer({ min: 1, max: 7 }), (text, size) => {
        const cut = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []
        const streamed = highlight(language, ...cut)
        assert.equal(streamed.map((segment) => segment.text).join(""), text)
        assert.deepEqual(styles(streamed), styles(highlight(language, text)))
      }),
      { numRuns: 1000 },
    )
  })
}
