import { createAnswerParser } from "../../src/agent/parse.ts"
import { parseCsv } from "../../src/core/data-files/csv.ts"
import { estimateTokens } from "../../src/core/usage.ts"
import { shortenLines, splitActionText } from "../../src/display/event-text.ts"
import { createHighlighter } from "../../src/display/highlight.ts"
import { createMarkdown } from "../../src/display/markdown.ts"
import { createPalette } from "../../src/display/paint.ts"
import { createSafeStream, safeLine, safeText } from "../../src/display/safe-text.ts"
import { createTextFlow } from "../../src/display/text-flow.ts"
import { parseSummary } from "../../src/memory/summary-text.ts"
import { modelFailure } from "../../src/models/model-failure.ts"
import { trackTerminalModes } from "../../src/providers/terminal/terminal-modes.ts"
import { parseResetTime } from "../../src/providers/turn/reset-time.ts"
import { compileCell } from "../../src/runtime/compiler/compile-cell.ts"
import { parseCell } from "../../src/runtime/compiler/parse-cell.ts"
import { parseTypeScript } from "../../src/runtime/compiler/typescript-parser.ts"
import { parseSignature, parseType } from "../../src/runtime/declare/parse-signature.ts"
import { checkRules } from "../../src/runtime/rules/check-rules.ts"
import { safeRules } from "../../src/runtime/rules/safe-rules.ts"
import { showJson, showValue } from "../../src/runtime/show/show-value.ts"
import { parseSkillText } from "../../src/skills/front-matter.ts"
import { checkSkillProperties } from "../../src/skills/skill-properties.ts"
import { editFileTool } from "../../src/tools/files/edit-file.ts"
import { compilePattern } from "../../src/tools/search/search-pattern.ts"
import { toReadableText } from "../../src/tools/shell/output-preview.ts"
import { compileGlob } from "../../src/workspaces/glob.ts"
import { memoryWorkspace } from "../../src/workspaces/memory.ts"
import { elementContents, elementText } from "../../src/workspaces/s3/s3-xml.ts"
import { use } from "../tools/use.ts"

export interface Case {
  name: string
  run(text: string): unknown
}

const paint = createPalette(false)
const screen = { paint, columns: 80, write() {}, writeLines() {}, ensureBlankLine() {}, setStatus() {}, close() {} }

function draw(pieces: Iterable<string>): void {
  const markdown = createMarkdown(createTextFlow(screen, { first: "", rest: "" }), paint)
  for (const piece of pieces) markdown.add(piece)
  markdown.end()
}

function* inPieces(text: string, size = 7): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

function answer(text: string, language: "typescript" | "python", pieces: Iterable<string>): void {
  const parser = createAnswerParser({ language, fence: language === "python" ? "python" : "ts", onlyFence: false })
  parser.push(text)
  for (const piece of pieces) parser.push(piece)
  parser.settle()
  parser.end()
  parser.answer()
}

function continued(text: string): void {
  const parser = createAnswerParser({ language: "typescript", fence: "ts", onlyFence: false })
  parser.push("```ts\nconst a = `")
  parser.settle()
  parser.resume()
  for (const piece of inPieces(text)) parser.push(piece)
  parser.end()
}

// Replaces the first character everywhere, and then its replacement.
async function editTwice(text: string): Promise<void> {
  const edits = [
    { oldText: text.charAt(0), newText: "1-", replaceAll: true },
    { oldText: "1-", newText: "2-", replaceAll: true },
  ]
  await use(editFileTool(), { path: "a.txt", edits }, memoryWorkspace({ "a.txt": text }))
}

const options = {
  filename: "cell.ts",
  known: new Set<string>(),
  constants: new Set<string>(),
  ambient: new Set<string>(),
}

export const cases: Case[] = [
  { name: "parse a cell", run: parseTypeScript },
  { name: "parse a cell that begins with a brace", run: (text) => parseTypeScript(`{${text}`) },
  { name: "compile a cell", run: (text) => compileCell(parseCell(text), options) },
  { name: "check the rules of a cell", run: (text) => checkRules(parseCell(text), safeRules()) },
  { name: "split an answer", run: (text) => answer("", "typescript", [text]) },
  { name: "split an answer in pieces", run: (text) => answer("", "typescript", inPieces(text)) },
  { name: "split code in pieces", run: (text) => answer("```ts\n", "typescript", inPieces(text)) },
  { name: "split Python in pieces", run: (text) => answer("```py\n", "python", inPieces(text)) },
  { name: "go on with a cut answer", run: continued },
  { name: "draw Markdown", run: (text) => draw([text]) },
  { name: "draw Markdown in pieces", run: (text) => draw(inPieces(text)) },
  { name: "draw code in pieces", run: (text) => draw(inPieces(`\`\`\`ts\n${text}`)) },
  ...["ts", "py"].flatMap((language): Case[] => [
    { name: `colour ${language}`, run: (text) => [createHighlighter(language)].map((it) => [it.add(text), it.end()]) },
    {
      name: `colour ${language} in pieces`,
      run(text) {
        const highlighter = createHighlighter(language)
        for (const piece of inPieces(text)) highlighter.add(piece)
        highlighter.end()
      },
    },
  ]),
  { name: "make text safe", run: safeText },
  { name: "make a line safe", run: safeLine },
  {
    name: "make a stream safe",
    run(text) {
      const stream = createSafeStream()
      for (const piece of inPieces(text)) stream.add(piece)
      stream.end()
    },
  },
  {
    name: "take an outcome apart",
    run: (text) =>
      splitActionText({ type: "code-end", text, ok: true } as unknown as Parameters<typeof splitActionText>[0]),
  },
  { name: "show few lines", run: (text) => shortenLines(text, { most: 10, head: 5, tail: 3 }) },
  { name: "read a summary", run: parseSummary },
  { name: "estimate tokens", run: estimateTokens },
  { name: "explain a failure of a model", run: (text) => modelFailure(new Error(text), { id: "model" }) },
  { name: "find the time of a reset", run: (text) => parseResetTime(text, 0) },
  { name: "follow the modes of a terminal", run: (text) => trackTerminalModes().follow(Buffer.from(text)) },
  { name: "read a signature", run: (text) => parseSignature(text, "tool") },
  { name: "read a type", run: (text) => parseType(text, "tool") },
  { name: "read a skill", run: (text) => parseSkillText(Buffer.from(text)) },
  {
    name: "read the front matter of a skill",
    run: (text) => parseSkillText(Buffer.from(`---\n${text}\n---\n`)),
  },
  {
    name: "check the properties of a skill",
    run: (text) => checkSkillProperties({ name: text, description: text, "allowed-tools": text }, "skill"),
  },
  {
    name: "compile a search pattern",
    run: (text) => compilePattern(text, { literal: false, ignoreCase: false, multiline: false }),
  },
  { name: "match a path with a glob", run: (text) => compileGlob("**/a*b/**/*.{ts,js}").matches(text) },
  { name: "compile a glob", run: (text) => compileGlob(text) },
  { name: "preview the output of a command", run: (text) => toReadableText(Buffer.from(text)) },
  { name: "show a text", run: (text) => showValue(text) },
  { name: "show lines", run: (text) => showValue({ lines: text.split("\n") }) },
  { name: "show JSON", run: (text) => [showJson(text, 5000), showJson(JSON.stringify([text]), 5000)] },
  { name: "edit a file", run: editTwice },
  { name: "read CSV", run: (text) => parseCsv(text) },
  { name: "read XML of a store", run: (text) => [elementContents(text, "Contents"), elementText(text, "Key")] },
]

const repeated = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length))

/** Texts of a size. */
export const texts: Record<string, (size: number) => string> = {
  slashes: repeated("/"),
  "slashes and no end of line": (size) => `${"/".repeat(46)} ${"a".repeat(size)}`,
  "comments of a line": repeated("// a comment\n"),
  "comments of many lines": repeated("/* a\n * b\n */\n"),
  dividers: (size) => `${"//////////////////////////////////////////////\n".repeat(size / 47)}{ a: 1 }`,
  "comments that do not end": repeated("/* "),
  spaces: repeated(" "),
  "empty lines": repeated("\n"),
  "spaces before a letter": (size) => `${" ".repeat(size)}x`,
  backticks: repeated("`"),
  "templates that do not end": repeated("`${"),
  fences: repeated("```ts\n"),
  "blocks of code": repeated("```ts\na()\n```\n"),
  "blocks of code in thoughts": repeated("```ts\na()\n```\n</think>\n"),
  "fences in one line": repeated("```ts "),
  stars: repeated("*"),
  "stars before words": repeated("*a "),
  "two stars before words": repeated("**a "),
  "underscores before words": repeated("_a "),
  "backticks before words": repeated("`a ``b "),
  quotes: repeated('"'),
  "escaped quotes": repeated('"\\'),
  "open brackets": repeated("("),
  "open square brackets": repeated("["),
  "open braces": repeated("{"),
  "open angle brackets": repeated("a<"),
  "angle brackets with brackets": repeated("a<b>("),
  "regular expressions that do not end": repeated("=/["),
  divisions: repeated("= / "),
  questions: repeated("a?"),
  "questions with brackets": repeated("a?("),
  "arrow functions": repeated("(a)=>"),
  "arrow functions in brackets": repeated("(a=>"),
  "arrow functions with types": repeated("(a:b):c=>("),
  "async arrow functions": repeated("async<T>("),
  "types of functions": repeated("(a:"),
  names: repeated("a "),
  statements: repeated("a\n"),
  assignments: repeated("let a = 1;\n"),
  functions: repeated("function f(){}\n"),
  "one long name": repeated("a"),
  "one long number": repeated("1"),
  numbers: repeated("1 "),
  commas: repeated(","),
  additions: repeated("a+"),
  "member accesses": repeated("a."),
  "at signs": repeated("@"),
  "escape characters": repeated("\x1b"),
  "escape sequences": repeated("\x1b[3"),
  "titles of terminals": repeated("\x1b]0;"),
  "introducers of one byte": repeated("\x9d"),
  tags: repeated("<output>\n"),
  "tags of a summary": repeated("<summary><analysis>"),
  elements: repeated("<Contents><Key>"),
  headings: repeated("# "),
  "a long heading": (size) => `## ${" : ".repeat(size / 3)}!`,
  "list items": repeated("- "),
  quotations: repeated("> "),
  "properties of a skill": repeated("a: b\n"),
  "lines of YAML that nest": repeated("- - "),
  aliases: (size) => `a: &a [b]\n${"c: *a\n".repeat(size / 6)}`,
  globs: repeated("**/"),
  "alternatives of a glob": repeated("{a,"),
  wildcards: repeated("*a"),
  "repetitions of a pattern": repeated("a*"),
  "groups of a pattern": repeated("(a|"),
  "words of a reset": repeated("try again in 1 "),
  "rows of CSV": repeated('a,"b'),
  "wide letters": repeated("漢"),
  "combined letters": (size) => `a${"\u0301".repeat(size)}`,
  emojis: repeated("👩‍👩‍👧"),
  "carriage returns": repeated("\r"),
  "ends of lines of Windows": repeated("\r\n"),
  "line separators": repeated("\u2028"),
  "lines with a line separator": repeated("a\u2028\n"),
  tabs: repeated("\t"),
  "tabs before a letter": (size) => `${"\t".repeat(size)}x`,
  "rows of a table": repeated("|a|b|\n"),
  "rows of a table in one line": (size) => `${"|a|b".repeat(size / 4)}\n|-|-|\n`,
  "a long row that divides a table": (size) => `|a|b|\n${"|-".repeat(size / 2)}!\n`,
  "rows that divide tables": repeated("|:-:|---|\n"),
  "a table of empty cells": (size) => `|a|b|\n|-|-|\n${"|".repeat(size)}`,
  "a table of spaces": (size) => `|a|b|\n|-|-|\n|${" ".repeat(size)}!`,
  "links that do not end": repeated("[a]("),
  "links of links": (size) => `${"[a]".repeat(size / 3)}(${"(".repeat(10)}`,
  "entities that do not end": repeated("&a"),
  ...Object.fromEntries(
    [..."|-:~_]>&#=+.'"].map((mark) => [`a run of ${mark}`, (size: number) => `${mark.repeat(size)}\0!`]),
  ),
  "triple quotes": repeated('"""'),
}
