import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { createHighlighter, type Segment } from "../../src/display/highlight.ts"

/** Each character with its look, so that equal highlighting compares equal however it was cut. */
function looks(segments: Segment[]): [string, string][] {
  return segments.flatMap(({ text, style: look }) => text.split("").map((sign): [string, string] => [sign, look]))
}

function highlight(language: string, ...pieces: string[]): Segment[] {
  const highlighter = createHighlighter(language)
  return [...pieces.flatMap((piece) => highlighter.add(piece)), ...highlighter.end()]
}

function lookOf(code: string, word: string, language = "ts"): string | undefined {
  const at = code.indexOf(word)
  return looks(highlight(language, code))[at]?.[1]
}

test("keywords, strings, numbers, comments, calls and types each have their look", () => {
  const code = 'const light = await find("hall", 20) // the big one\nlet x: Light = null'
  assert.equal(lookOf(code, "const"), "magenta")
  assert.equal(lookOf(code, "light"), "plain")
  assert.equal(lookOf(code, "find"), "blue")
  assert.equal(lookOf(code, '"hall"'), "green")
  assert.equal(lookOf(code, "20"), "yellow")
  assert.equal(lookOf(code, "// the"), "dim")
  assert.equal(lookOf(code, "Light ="), "cyan")
  assert.equal(lookOf(code, "null"), "yellow")
})

test("a template is a string and what it embeds is code, nested ones too", () => {
  const code = "`a ${b({ c: `d ${1}` })} e` + f"
  assert.equal(lookOf(code, "a"), "green")
  assert.equal(lookOf(code, "b("), "blue")
  assert.equal(lookOf(code, "d "), "green")
  assert.equal(lookOf(code, "1"), "yellow")
  assert.equal(lookOf(code, " e`"), "green")
  assert.equal(lookOf(code, "f"), "plain")
})

test("a slash divides after a value and opens a regular expression elsewhere", () => {
  const code = "const half = total / 2 / n\nconst found = /['`/]*/g.test(text)"
  assert.equal(lookOf(code, "/ 2"), "plain")
  assert.equal(lookOf(code, "/['"), "red")
  assert.equal(lookOf(code, "test"), "blue")
})

test("comments and triple quotes go on over lines", () => {
  assert.equal(lookOf("/* a\n b */ c", "b"), "dim")
  assert.equal(lookOf("/* a\n b */ c", "c"), "plain")
  assert.equal(lookOf('x = """a\nb""" + c', "b", "python"), "green")
  assert.equal(lookOf('x = """a\nb""" + c', "c", "python"), "plain")
})

test("python has its own keywords, comments, decorators and string prefixes", () => {
  const code = "@cache\ndef load(path: str):  # reads\n    return f'{path}' if None else 1.5"
  assert.equal(lookOf(code, "@cache", "python"), "cyan")
  assert.equal(lookOf(code, "def", "py"), "magenta")
  assert.equal(lookOf(code, "load", "python"), "blue")
  assert.equal(lookOf(code, "# reads", "python"), "dim")
  assert.equal(lookOf(code, "f'", "python"), "green")
  assert.equal(lookOf(code, "None", "python"), "yellow")
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
        assert.deepEqual(looks(streamed), looks(highlight(language, text)))
      }),
      { numRuns: 1000 },
    )
  })
}
