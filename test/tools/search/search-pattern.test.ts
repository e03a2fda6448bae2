import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, describe, test } from "node:test"
import { type MatchOptions, matchFile } from "../../../src/tools/search/match-lines.ts"
import { filesByRipgrep, findRipgrep } from "../../../src/tools/search/ripgrep.ts"
import { compilePattern, type SearchPattern } from "../../../src/tools/search/search-pattern.ts"
import fc from "../../property.ts"
import { requires } from "../../system.ts"

const plain = { literal: false, ignoreCase: false, multiline: false }

// Random combinations of pieces that models write.
const atom = fc.oneof(
  fc.constantFrom("a", "b", "B", "é", "ſ", "k", "😀", " ", "_", "1", ".", "^", "$", "\\b", "\\B"),
  fc.constantFrom(
    "\\d",
    "\\w",
    "\\s",
    "\\D",
    "\\W",
    "\\S",
    "\\t",
    "\\.",
    "\\u00e9",
    "\\x41",
    "\\p{L}",
    "\ufffd",
    "\ufeff",
  ),
  fc.constantFrom(
    "[a-c]",
    "[^a]",
    "[\\w.]",
    "[\\s\\S]",
    "[^\\n]",
    "[\u0080-\uffff]",
    "[^é]",
    "\\r",
    "\\n",
    "\\r\\n",
    "[\\n ]",
  ),
)
const repeat = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?")
const group = fc.constantFrom("(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<name>", "(?i:")
const sequence = fc.letrec<{ sequence: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: fc.tuple(atom, repeat).map(([text, times]) => text + times), weight: 5 },
    fc.tuple(group, tie("sequence"), repeat).map(([open, inner, times]) => `${open}${inner})${times}`),
    fc.tuple(tie("sequence"), tie("sequence")).map(([one, other]) => `(?:${one}|${other})`),
  ),
  sequence: fc.array(tie("piece"), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
})).sequence

const line = fc.string({
  unit: fc.constantFrom("a", "b", "B", "c", "é", "ſ", "K", "😀", " ", "_", "1", ".", "\t"),
  maxLength: 6,
})

describe("a pattern", () => {
  test("means what it means to JavaScript", () => {
    fc.assert(
      fc.property(sequence, fc.array(line), fc.boolean(), (text, lines, ignoreCase) => {
        const expected = compiled(text, ignoreCase ? "ui" : "u")
        fc.pre(expected !== undefined && !/\\n|\\S\]/.test(text))
        const pattern = compilePattern(text, { ...plain, ignoreCase })
        const own = new RegExp(pattern.source, pattern.flags)
        for (const one of lines) assert.equal(own.test(one), expected?.test(one), JSON.stringify(one))
      }),
      { numRuns: 500 },
    )
  })

  test("may be written as elsewhere: needless escapes, lone braces, flags in front, POSIX names", () => {
    const cases: [pattern: string, fits: string, not: string][] = [
      ['\\"a\\-b\\"', '"a-b"', '"ab"'],
      ["interface Foo {", "interface Foo {", "interface Foo"],
      ["a{,2}", "a{,2}", "aa"],
      ["x]}", "x]}", "x"],
      ["(?i)error", "ERROR", "eror"],
      ["(?P<year>\\d{4})-", "2025-", "25-"],
      ["^[[:alpha:]_]+$", "a_B", "a1"],
      ["[[:space:]]x", " x", "x"],
      ["[[:constructor:]x]", "cx]", "x"],
      ["[\\w-.]+@", "a-b.c@", "@"],
      ["\\<b\\>", "<b>", "b"],
      ["[\\^\\]\\-]", "-", "a"],
      ["\\ud83d\\ude00", "😀", "😁"],
    ]
    for (const [text, fits, not] of cases) {
      const { source, flags } = compilePattern(text, plain)
      assert.ok(new RegExp(source, flags).test(fits), text)
      assert.ok(!new RegExp(source, flags).test(not), text)
    }
  })

  test("that is none is refused with the reason", () => {
    for (const text of [
      "(",
      "a)",
      "[a",
      "*a",
      "a**",
      "\\",
      "\\q",
      "[z-a]",
      "(?<a>x)(?<a>y)",
      "\\u{110000}",
      "(?=a)*",
    ]) {
      assert.throws(() => compilePattern(text, plain), SyntaxError, text)
    }
  })

  test("is about lines, unless it names a line break", () => {
    for (const text of ["a\\nb", "a[\\n\\r]b", "a[\\s\\S]*b", "a[^]b", "a\nb", "(?s)a.b"]) {
      assert.equal(compilePattern(text, plain).isMultiline, true, text)
    }
    for (const text of ["a.b", "a\\s+b", "[^\\n]*", '[^"]*', "\\W"])
      assert.equal(compilePattern(text, plain).isMultiline, false, text)
    assert.equal(compilePattern("a\nb", { ...plain, literal: true }).isMultiline, true)
  })
})

describe("ripgrep", { skip: requires("ripgrep") }, () => {
  const directory = mkdtempSync(join(tmpdir(), "karst-pattern-"))
  after(() => rmSync(directory, { recursive: true }))
  const ending = fc.constantFrom("\n", "\r\n")
  const bytes = fc
    .tuple(fc.array(fc.tuple(line, ending)), line, fc.constantFrom("utf8", "mark", "utf16", "broken", "nul"))
    .map(([lines, last, kind]) => asBytes(lines.flat().join("") + last, kind))

  test("names every file that we find something in, and maybe more", async () => {
    await fc.assert(
      fc.asyncProperty(
        sequence,
        fc.array(bytes, { minLength: 1, maxLength: 6 }),
        fc.record({ literal: fc.boolean(), ignoreCase: fc.boolean(), multiline: fc.boolean() }),
        async (text, files, options) => {
          fc.pre(options.literal || compiled(text, "u") !== undefined)
          const pattern = compilePattern(text, options)
          for (const name of readdirSync(directory)) rmSync(join(directory, name))
          for (const [index, data] of files.entries()) writeFileSync(join(directory, `${index}`), data)
          const named = await namedBy(pattern, directory)
          const own = files.flatMap((data, index) => (found(pattern, data) ? [`${index}`] : []))
          const missed = own.filter((path) => named !== undefined && !named.includes(path))
          assert.deepEqual(missed, [], `${pattern.source} by ${pattern.requiredText}`)
        },
      ),
      { numRuns: 150 },
    )
  })

  test("and we take a file with a NUL for no text, in whatever encoding", async () => {
    const pattern = compilePattern("a", { literal: false, ignoreCase: false, multiline: false })
    for (const name of readdirSync(directory)) rmSync(join(directory, name))
    const data = Buffer.from("\ufeffa\0", "utf16le")
    writeFileSync(join(directory, "utf-16"), data)
    assert.equal(found(pattern, data), false)
    assert.deepEqual(await namedBy(pattern, directory), [])
  })

  test("is asked for a text that every match contains, or not at all", async () => {
    writeFileSync(join(directory, "a.txt"), "the end\n")
    for (const [text, required] of [
      ["\\bthe\\b", "the"],
      ["^the (?!start)", "the "],
      ["(t)he \\w+$", "he "],
      ["x?the+", "th"],
      ["(?:the|x)\\send", "end"],
    ] as const) {
      const pattern = compilePattern(text, plain)
      assert.equal(pattern.requiredText, required, text)
      assert.deepEqual(await namedBy(pattern, directory), ["a.txt"], text)
    }
    for (const text of ["the|end", "[t]\\w", "(the)?"]) {
      assert.equal(await namedBy(compilePattern(text, plain), directory), undefined, text)
    }
  })
})

function compiled(text: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(text, flags)
  } catch {
    return undefined
  }
}

function asBytes(text: string, kind: string): Buffer {
  if (kind === "mark") return Buffer.from(`\ufeff${text}`)
  if (kind === "utf16") return Buffer.from(`\ufeff${text}`, "utf16le")
  if (kind === "nul") return Buffer.from(`${text}\0`)
  // Half of a character, and a byte that is never valid.
  if (kind === "broken") return Buffer.from(text.replaceAll("é", "\u00e2\u0082").replaceAll("_", "\u00ff"), "latin1")
  return Buffer.from(text)
}

function found({ source, flags, isMultiline: spans }: SearchPattern, bytes: Uint8Array): boolean {
  const options: MatchOptions = { source, flags, isMultiline: spans, mode: "files", context: 0 }
  const regex = new RegExp(source, spans ? `g${flags}` : flags)
  return matchFile("x", bytes, regex, options, 1) !== undefined
}

async function namedBy(pattern: SearchPattern, directory: string): Promise<string[] | undefined> {
  const command = findRipgrep() ?? assert.fail("ripgrep is not on the PATH.")
  const { signal } = new AbortController()
  const search = { command, pattern, directory, folder: "", hidden: true, glob: undefined, signal }
  const paths = await filesByRipgrep(search)
  return paths && [...paths]
}
