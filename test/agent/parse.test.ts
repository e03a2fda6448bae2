import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { CodeSyntax } from "../../src/agent/parse/tags.ts"
import { createAnswerParser, type ParsedAnswer, type ParsedPiece } from "../../src/agent/parse.ts"
import fc from "../property.ts"

const typescript: CodeSyntax = { language: "typescript", fence: "ts", onlyFence: false }
const python: CodeSyntax = { language: "python", fence: "python", onlyFence: false }

function parse(text: string, size = text.length || 1, syntax = typescript) {
  const parser = createAnswerParser(syntax)
  const pieces: ParsedPiece[] = []
  for (let index = 0; index < text.length; index += size) pieces.push(...parser.push(text.slice(index, index + size)))
  pieces.push(...parser.end())
  return { answer: parser.answer(), pieces, parser }
}

const fragments = fc.constantFrom(
  "```ts\n",
  "```ts",
  "```",
  "```\n",
  "````ts\n",
  "````\n",
  "~~~js\n",
  "~~~\n",
  "   ```ts\n",
  "    ```ts\n",
  "```json\n",
  "``` ts \n",
  "```TypeScript title=x\n",
  "`code`",
  "``",
  "const a = 1\n",
  "const s = `\n",
  "`\n",
  "/* ",
  " */\n",
  "// it's\n",
  "'",
  '"',
  "${",
  "}",
  "\n",
  "\r\n",
  " ",
  "  ",
  "text ",
  "let r = /`/\n",
  "\\",
  "prose ```ts inline\n",
  "Here: ```ts\n",
  "- ```ts\n",
  "> ```ts\n",
  "> x\n",
  "Let me look:\n",
  "For example:\n",
  "<think>",
  "</think>",
  "<code>\n",
  "<execute>",
  "```ts x`y\n",
  "é",
  "漢字\n",
)

describe("the answer parser", () => {
  test("reads an answer that repeats its block thousands of times, as a model in a loop does", () => {
    const { answer } = parse("```ts\na()\n```\n".repeat(20_000))
    assert.deepEqual([answer.code?.code, answer.hasMoreCode], ["a()\n", true])
  })

  test("gives the same answer at every chunk size where text stands before the fence of a second block", () => {
    for (const before of ["> ", "- ", "Now: "]) {
      const text = `\`\`\`\nconst s = 1\n\`\`\`\n${before}\`\`\`ts\ns\n\`\`\`\n`
      for (const size of [1, 2, 7]) assert.deepEqual(parse(text, size).answer, parse(text).answer, `${before}${size}`)
    }
  })

  test("gives the same answer at every chunk size, for 1,500 random answers", () => {
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 24 }), (parts) => {
        const text = parts.join("")
        const expected = parse(text).answer
        for (const size of [1, 2, 7]) assert.deepEqual(parse(text, size).answer, expected, `chunks of ${size}`)
      }),
      { numRuns: 1500 },
    )
  })

  test("streams pieces that add up to the answer, whatever the chunks", () => {
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 24 }), fc.integer({ min: 1, max: 9 }), (parts, size) => {
        const { answer, pieces } = parse(parts.join(""), size)
        const text = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("")
        const start = pieces.findLastIndex((piece) => piece.type === "code-start")
        const code = pieces.slice(start).map((piece) => (piece.type === "code" ? piece.text : ""))
        assert.equal(text, answer.text)
        assert.ok(code.join("").startsWith(answer.code?.code ?? ""))
        // A block turns out to be part of a thought if only the end of the thought has a tag.
        const blocks = pieces.filter((piece) => piece.type === "code-start").length
        const isThought = blocks > (answer.code ? 1 : 0)
        assert.equal(blocks, (answer.code ? 1 : 0) + (isThought ? 1 : 0))
        if (isThought) assert.match(answer.text, /<\/think/)
      }),
      { numRuns: 500 },
    )
  })

  test("takes plain prose as the answer", () => {
    assert.deepEqual(parse("Just an answer.").answer, { text: "Just an answer." })
  })

  test("splits the prose before a block from the block", () => {
    const { answer } = parse("Let me look.\n```ts\nconst x = 1\nx\n```\n")
    assert.deepEqual(answer, { text: "Let me look.\n", code: { tag: "ts", code: "const x = 1\nx\n", closed: true } })
  })

  test("keeps only the first block and drops what follows it", () => {
    const text = "```ts\none\n```\nimagined output\n```ts\ntwo\n```\n"
    for (const size of [1, 13, 10_000]) assert.equal(parse(text, size).answer.code?.code, "one\n")
    assert.equal(parse(text).answer.text, "")
  })

  test("forgets the code of a thought without an opening tag when the end of the thought follows", () => {
    const parser = createAnswerParser(typescript)
    parser.push("I could\n```ts\nrows.pop()\n```\n")
    assert.equal(parser.done, true)
    assert.deepEqual(parser.push("but no.\n</think>\n"), [
      { type: "text", text: "```ts\nrows.pop()\n```\nbut no.\n</think>\n" },
    ])
    assert.equal(parser.done, false)
    parser.push("```ts\nrows.length\n```\n</think>\n")
    assert.equal(parser.done, true)
    assert.equal(parser.answer().code?.code, "rows.length\n")
  })

  test("runs no code before the end of an expected thought, and all of it if that end does not come", () => {
    const thought = "I could\n```ts\nrows.pop()\n```\nbut no.\n"
    for (const size of [1, 5, 1000]) {
      const read = (text: string) => {
        const parser = createAnswerParser(typescript, { startsInThought: true })
        for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size))
        const isDone = parser.done
        const pieces = parser.end()
        return { isDone, answer: parser.answer(), pieces }
      }
      const ended = read(`${thought}</think>\n\`\`\`ts\nrows.length\n\`\`\`\n`)
      assert.deepEqual([ended.isDone, ended.answer.code?.code], [true, "rows.length\n"])
      assert.equal(read(`${thought}</think>\nThere are 3.`).answer.sendBack, undefined)
      const open = read(thought)
      assert.equal(open.isDone, false)
      assert.deepEqual(open.answer, parse(thought).answer)
      assert.deepEqual(open.pieces, [
        { type: "code-start", tag: "ts" },
        { type: "code", text: "rows.pop()\n" },
        { type: "code-end" },
      ])
    }
  })

  test("is done the moment the first block closes", () => {
    const parser = createAnswerParser(typescript)
    parser.push("```ts\n1\n```")
    assert.equal(parser.done, false)
    parser.push("\n")
    assert.equal(parser.done, true)
  })

  for (const tag of ["ts", "TS", "TypeScript", "js", "JavaScript", "mjs"]) {
    test(`runs a block tagged ${tag}`, () => {
      assert.equal(parse(`\`\`\`${tag}\n1\n\`\`\``).answer.code?.code, "1\n")
    })
  }

  for (const tag of ["", "json", "tsx2", "typescriptx", "text"]) {
    test(`leaves a block tagged "${tag}" in the prose`, () => {
      const text = `\`\`\`${tag}\n1\n\`\`\`\n`
      assert.deepEqual(parse(text).answer, { text })
    })
  }

  test("does not run a block quoted inside a block of another language", () => {
    const text = "````markdown\n```ts\nrun()\n```\n````\ndone"
    assert.deepEqual(parse(text).answer, { text })
  })

  test("takes prose that mentions a fence as prose", () => {
    const text = "Use ```ts fences\nor `code` and ``double`` ticks."
    assert.deepEqual(parse(text).answer, { text })
  })

  test("removes the fence's own indentation from every line, and no more", () => {
    assert.equal(parse("  ```ts\n  if (a) {\n    b()\n  }\n  ```\n").answer.code?.code, "if (a) {\n  b()\n}\n")
  })

  test("drops the info string after the tag instead of running it", () => {
    assert.equal(parse('```ts title="x" run()\ny\n```').answer.code?.code, "y\n")
  })

  test("accepts longer fences and tildes, closed by their own kind", () => {
    assert.equal(parse("````ts\n```\nx\n````").answer.code?.code, "```\nx\n")
    assert.equal(parse("~~~ts\n```\nx\n~~~").answer.code?.code, "```\nx\n")
  })

  test("keeps a fence inside a template string as part of the code", () => {
    const code = "const doc = `\n~~~\nhi\n~~~\n`\nconsole.log(doc)\n"
    assert.equal(parse(`~~~ts\n${code}~~~\n`).answer.code?.code, code)
  })

  test("keeps a fence inside a block comment as part of the code", () => {
    const code = "/*\n```\n*/\nx\n"
    assert.equal(parse(`\`\`\`ts\n${code}\`\`\`\n`).answer.code?.code, code)
  })

  test("keeps a fence inside a triple-quoted Python string as part of the code", () => {
    const code = 'doc = """\n```\n"""\nprint(doc)\n'
    assert.equal(parse(`\`\`\`python\n${code}\`\`\`\n`, 1, python).answer.code?.code, code)
  })

  test("is not misled by quotes in comments, regular expressions or nested templates", () => {
    const code = "// it's a `tick\nconst r = /[`'/]/\nconst s = `a${`b${{}}`}c`\n"
    assert.equal(parse(`\`\`\`ts\n${code}\`\`\`\nafter`).answer.code?.code, code)
  })

  test("closes at the first fence when a stray backtick makes the rest look like a string", () => {
    const { answer } = parse("```ts\nconst a = `oops\n```\nand prose\n")
    assert.deepEqual(answer.code, { tag: "ts", code: "const a = `oops\n", closed: true })
  })

  test("marks a block the model never closed", () => {
    const { answer, parser } = parse("```ts\ndanger()")
    assert.deepEqual(answer.code, { tag: "ts", code: "danger()", closed: false })
    assert.equal(parser.done, false)
  })

  test("replays an empty block as prose and goes on to the next", () => {
    const { answer } = parse("```ts\n\n```\n```ts\nx\n```\n")
    assert.deepEqual(answer, { text: "```ts\n\n```\n", code: { tag: "ts", code: "x\n", closed: true } })
  })

  test("keeps trailing backticks out of the code", () => {
    assert.equal(parse("```ts\nx\n```\n```").answer.code?.code, "x\n")
  })

  test("reads Windows line endings as line endings", () => {
    assert.deepEqual(parse("Hi\r\n```ts\r\nx\r\n```\r\n", 1).answer.code, { tag: "ts", code: "x\n", closed: true })
  })

  test("streams prose without waiting for the end of the line", () => {
    const parser = createAnswerParser(typescript)
    assert.deepEqual(parser.push("Hel"), [{ type: "text", text: "Hel" }])
    assert.deepEqual(parser.push("lo"), [{ type: "text", text: "lo" }])
  })

  test("joins a block that was cut in the middle of a line", () => {
    const parser = createAnswerParser(typescript)
    parser.push("```ts\nconst total = 1")
    parser.resume()
    parser.push("23\ntotal\n```\n")
    assert.deepEqual(parser.answer().code, { tag: "ts", code: "const total = 123\ntotal\n", closed: true })
  })

  test("drops a fence that the model opens again when it goes on inside a block", () => {
    for (const size of [1, 4, 100]) {
      const parser = createAnswerParser(typescript)
      parser.push("```ts\nconst a = 1\n")
      parser.resume()
      const rest = "```ts\na + 1\n```\n"
      for (let index = 0; index < rest.length; index += size) parser.push(rest.slice(index, index + size))
      assert.equal(parser.answer().code?.code, "const a = 1\na + 1\n")
    }
  })

  const continued: { [what: string]: { cut: string; rest: string; text?: string; code?: string } } = {
    "a fence after prose that was cut in a line": {
      cut: "Text ",
      rest: "```ts\n1\n```\n",
      text: "Text \n",
      code: "1\n",
    },
    "a fence that was cut and is written anew": {
      cut: "Text\n```t",
      rest: "```ts\n1\n```\n",
      text: "Text\n",
      code: "1\n",
    },
    "the rest of a fence that was cut": { cut: "Text\n``", rest: "`ts\n1\n```\n", text: "Text\n", code: "1\n" },
    "a fence of another language": { cut: "Text ", rest: "```json\n1\n```\n", text: "Text ```json\n1\n```\n" },
    "a line break before the fence": { cut: "```ts\na()", rest: "\n```ts\nb()\n```\n", code: "a()\nb()\n" },
    "blank lines before the fence": { cut: "```ts\na()\n", rest: "\n\n```ts\nb()\n```\n", code: "a()\nb()\n" },
    "a line of prose before the fence": {
      cut: "```ts\nlet a = 1",
      rest: "Sure, continuing:\n\n```typescript\n2\nb()\n```\n",
      code: "let a = 12\nb()\n",
    },
    "a line break of code": { cut: "```ts\na()", rest: "\nb()\n```\n", code: "a()\nb()\n" },
    "code that begins like prose": { cut: "```ts\n", rest: "Array.from(x)\nb()\n```\n", code: "Array.from(x)\nb()\n" },
    "a fence in a comment": {
      cut: "```ts\n/* x\n",
      rest: "Look:\n```ts\n1\n```\n*/\n```\n",
      code: "/* x\nLook:\n```ts\n1\n```\n*/\n",
    },
    "a bare fence that opens the block again": { cut: "```ts\na(", rest: "```\n1)\n```", code: "a(1)\n" },
    "a bare fence and more after the block": {
      cut: "```ts\na(",
      rest: "```\n1)\n```\nData:\n```json\n1\n```\n",
      code: "a(1)\n",
    },
    "a bare fence that closes the block": { cut: "```ts\na()\n", rest: "```\nThat is all.\n", code: "a()\n" },
    "a bare fence before another block": { cut: "```ts\na()\n", rest: "```\nData:\n```json\n1\n```\n", code: "a()\n" },
    "a bare fence before a bare block": { cut: "```ts\na()\n", rest: "```\nIt prints\n```\n1\n```\n", code: "a()\n" },
  }
  for (const [what, { cut, rest, text = "", code }] of Object.entries(continued)) {
    test(`goes on with ${what}`, () => {
      for (const size of [1, 2, 3, 7, 100]) {
        const parser = createAnswerParser(typescript)
        parser.push(cut)
        parser.settle()
        parser.resume()
        for (let index = 0; index < rest.length; index += size) parser.push(rest.slice(index, index + size))
        parser.settle()
        parser.end()
        const expected: ParsedAnswer = code === undefined ? { text } : { text, code: { tag: "ts", code, closed: true } }
        assert.deepEqual(parser.answer(), expected, `in chunks of ${size}`)
      }
    })
  }

  test("goes on the same way however the rest comes in chunks", () => {
    const line = fc.constantFrom(
      "```ts",
      "```",
      "```json",
      "  ```ts",
      "Sure:",
      "a()",
      "`",
      "",
      " ",
      "const s = `x",
      "Foo",
      "~~~",
    )
    const lines = fc.array(line, { maxLength: 6 }).map((all) => all.join("\n"))
    const sizes = fc.integer({ min: 1, max: 5 })
    fc.assert(
      fc.property(lines, lines, sizes, fc.boolean(), (start, rest, size, inCode) => {
        const read = (step: number) => {
          const parser = createAnswerParser(typescript)
          parser.push(inCode ? `\`\`\`ts\n${start}` : start)
          parser.settle()
          parser.resume()
          for (let index = 0; index < rest.length; index += step) parser.push(rest.slice(index, index + step))
          parser.settle()
          parser.end()
          return parser.answer()
        }
        assert.deepEqual(read(size), read(1000))
      }),
      { numRuns: 1000 },
    )
  })

  test("continues prose that was cut without adding anything", () => {
    const parser = createAnswerParser(typescript)
    parser.push("The answer is for")
    parser.resume()
    parser.push("ty-two.")
    parser.end()
    assert.equal(parser.answer().text, "The answer is forty-two.")
  })
})
