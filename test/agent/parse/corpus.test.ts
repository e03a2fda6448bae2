// Every answer of the corpus means what its label says, however it arrives.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { type CodeSyntax, languageTags } from "../../../src/agent/parse/tags.ts"
import { createAnswerParser, type ParsedAnswer, type ParsedPiece } from "../../../src/agent/parse.ts"
import fc from "../../property.ts"

interface Entry {
  file: string
  label: "run" | "send back" | "final"
  language: CodeSyntax["language"]
  title: string
  answer: string
  /** The code to run, if the label is `run`. */
  code: string
}

const folder = join(import.meta.dirname, "corpus")
const entries = readdirSync(folder)
  .filter((file) => file.endsWith(".txt"))
  .flatMap(readEntries)

describe("the corpus of answers", () => {
  test("has at least 150 answers in both directions, 60 of them played by hand", () => {
    const count = (label: string) => entries.filter((entry) => entry.label === label).length
    assert.ok(entries.length >= 150)
    assert.ok(entries.filter(({ file }) => file.startsWith("hand-played")).length >= 60)
    assert.ok(count("run") >= 50 && count("send back") >= 50 && count("final") >= 50)
  })

  for (const entry of entries) {
    test(`${entry.label} (${entry.language}): ${entry.title}`, () => {
      const { answer } = read([entry.answer], entry)
      assert.equal(labelOf(answer), entry.label, answer.sendBack)
      if (entry.label === "run") assert.equal(answer.code?.code, entry.code)
      if (entry.label === "final") assert.equal(answer.text, entry.answer)
    })
  }

  test("means the same with Windows line endings and without the last line ending", () => {
    for (const entry of entries) {
      const windows = read([entry.answer.replaceAll("\n", "\r\n")], entry).answer
      assert.equal(labelOf(windows), entry.label, entry.title)
      assert.equal(windows.code?.code, read([entry.answer], entry).answer.code?.code, entry.title)
      assert.equal(labelOf(read([entry.answer.trimEnd()], entry).answer), entry.label, entry.title)
    }
  })

  test("gives the same pieces however the answer is cut into chunks", () => {
    for (const entry of entries) {
      const expected = read([entry.answer], entry)
      for (const size of [1, 2, 3, 7]) {
        const chunks = entry.answer.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
        assert.deepEqual(read(chunks, entry), expected, `${entry.title}, chunks of ${size}`)
      }
    }
  })

  test("gives the same pieces for answers put together from lines of the corpus, cut anywhere", () => {
    const lines = fc.constantFrom(...new Set(entries.flatMap(({ answer }) => answer.split(/(?<=\n)/))))
    const answers = fc.array(lines, { maxLength: 12 }).map((all) => all.join(""))
    const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(answers, cuts, fc.constantFrom("typescript", "python"), (answer, sizes, language) => {
        assert.deepEqual(read(chunksOf(answer, sizes), { language }), read([answer], { language }))
      }),
      { numRuns: 2000 },
    )
  })

  test("never runs code without a block of its own, and never loses text", () => {
    for (const entry of entries.filter(({ label }) => label !== "run")) {
      const { answer } = read([entry.answer], entry)
      assert.ok(!answer.code?.closed, entry.title)
      // After a block in the other language, the answer is not read on.
      const isCut = /TypeScript code was not run|Python code was not run/.test(answer.sendBack ?? "")
      if (!answer.code && !isCut) assert.equal(answer.text, entry.answer, entry.title)
    }
  })

  test("is all text to an agent that only calls tools", () => {
    for (const { answer, title } of entries) {
      const parser = createAnswerParser(undefined)
      parser.push(answer)
      parser.end()
      assert.deepEqual(parser.answer(), { text: answer }, title)
    }
  })

  test("runs only blocks with the agent's own tag, if it has one", () => {
    for (const entry of entries) {
      const parser = createAnswerParser({ language: entry.language, fence: "cell-to-run", onlyFence: true })
      parser.push(entry.answer)
      parser.end()
      const answer = parser.answer()
      assert.equal(answer.code, undefined, entry.title)
    }
  })
})

function labelOf({ code, sendBack }: ParsedAnswer): Entry["label"] {
  if (code) return code.closed ? "run" : "send back"
  return sendBack === undefined ? "final" : "send back"
}

/** Returns the answer and the pieces, with neighbours of one kind joined. */
function read(chunks: readonly string[], { language }: { language: CodeSyntax["language"] }) {
  const parser = createAnswerParser({ language, fence: languageTags[language][0] ?? "", onlyFence: false })
  const pieces: ParsedPiece[] = []
  const add = (piece: ParsedPiece) => {
    const last = pieces.at(-1)
    if (last && "text" in last && "text" in piece && last.type === piece.type) last.text += piece.text
    else pieces.push({ ...piece })
  }
  for (const chunk of chunks) parser.push(chunk).forEach(add)
  parser.settle().forEach(add)
  parser.end().forEach(add)
  return { answer: parser.answer(), pieces }
}

function chunksOf(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = []
  for (let at = 0; at < text.length; ) {
    const size = sizes[chunks.length % sizes.length] ?? 1
    chunks.push(text.slice(at, at + size))
    at += size
  }
  return chunks
}

function readEntries(file: string): Entry[] {
  const text = readFileSync(join(folder, file), "utf8").replace(/\n$/, "")
  const [, ...sections] = `\n${text}`.split(/\n=== (?=run|send back|final)/)
  return sections.map((section) => {
    const [head = "", ...lines] = `${section}\n`.split("\n")
    const [label, language, title = ""] = head.split(" | ")
    assert.ok(label === "run" || label === "send back" || label === "final", head)
    assert.ok(language === "typescript" || language === "python", head)
    const [answer = "", code = onlyBlock(lines.join("\n"))] = lines.join("\n").split("=== code\n")
    return { file, label, language, title, answer, code }
  })
}

function onlyBlock(answer: string): string {
  return /^(`{3,}|~{3,}).*\n([\s\S]*?)^\1$/m.exec(answer)?.[2] ?? ""
}
