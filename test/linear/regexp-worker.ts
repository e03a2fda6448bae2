// Tries every regular expression of src/ with texts that are made to be hard for it: a start, a piece that is repeated
// many times, and an end that does not fit.
import { parentPort, workerData } from "node:worker_threads"
import fc from "../property.ts"
import { type Found, regexpsOfSource } from "./regexps.ts"
import type { LinearWork } from "./watch.ts"

const { at, from }: LinearWork = workerData
/** How often one regular expression is tried with the longest texts. */
const mostTries = 5

/** Runs of one mark, ends of lines of all kinds, rows of tables, and mixtures that texts of models have. */
const commonPieces = [
  ..."|-:`~*_[]()<>&#=+.,\"'/\\ \t\n\r",
  ...["\r\n", "\u2028", "\n\n", " \n", "\t\n", "a\n", "a\r\n", "\n ", "- "],
  ...["|a|b|", "|a|b|\n", "| a | b |\n", "|-", "|-|", "|:-:|", "| --- ", " |", "| ", "||a"],
  ...[
    "[a](",
    "[a]: ",
    "![",
    "<a ",
    "<a>",
    "&a;",
    "**a",
    "*a*",
    "_a_",
    "``a",
    "a: ",
    "a, ",
    "'a' ",
    '"a" ',
    "a.b",
    "=a",
    "# ",
  ],
]

for (const [number, regexp] of regexpsOfSource().entries()) {
  if (number < from) continue
  at[0] = number
  const pattern = new RegExp(regexp.source, regexp.flags)
  let tried = 0
  for (const make of texts(regexp)) {
    const large = timeOf(pattern, make(8_000))
    // A text that takes long is tried much longer: where work grows with the square of its size, this never ends.
    if (large < 2 || large < 8 * timeOf(pattern, make(2_000)) || ++tried > mostTries) continue
    parentPort?.postMessage(JSON.stringify(make(40)))
    timeOf(pattern, make(1_000_000))
  }
}

function timeOf(pattern: RegExp, text: string): number {
  at[1] = (at[1] ?? 0) + 1
  pattern.lastIndex = 0
  const before = process.threadCpuUsage()
  if (pattern.flags.includes("g")) text.replace(pattern, "")
  else pattern.exec(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

function* texts({ source, flags }: Found): Generator<(size: number) => string> {
  const samples = samplesOf(source, flags)
  const characters = [...new Set([...charactersOf(source), ..." \n\t1a_-("])].slice(0, 24)
  const literals = source.split(/\\[a-zA-Z].|[\\^$*+?()|{}[\].]+/).filter((text) => text.length > 1)
  const some = characters.slice(0, 5)
  const pieces = new Set([
    ...characters,
    ...literals,
    ...samples.flatMap((sample) => [2, 5, 12].map((length) => sample.slice(0, length))),
    ...samples.map((sample) => sample.slice(0, -1)),
    ...samples
      .slice(0, 3)
      .flatMap((sample) => [...sample.slice(0, 12)].map((_, index) => sample.slice(index, index + 2))),
    ...some.flatMap((one) => some.map((other) => one + other)),
  ])
  pieces.delete("")
  const starts = new Set(["", ...samples.slice(0, 1).map((sample) => sample.slice(0, 8))])
  for (const piece of pieces) {
    for (const start of starts) {
      for (const end of ["", "\0!"]) {
        yield (size) => start + piece.repeat(Math.ceil(size / piece.length)) + end
      }
    }
  }
  for (const piece of commonPieces) {
    if (!pieces.has(piece)) yield (size) => `${piece.repeat(Math.ceil(size / piece.length))}\0!`
  }
}

/** The characters that the source names: those written as they are, as `\\|` or as `\\u2028`, and the ends of lines for
 *  `\\s`. */
function charactersOf(source: string): string[] {
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", s: "\u2028", d: "1", w: "a" }
  const escaped = [...source.matchAll(/\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gi)].map(
    ([, unicode, byte, other = ""]) => {
      const code = unicode ?? byte
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      return escapes[other] ?? (/[a-z\d]/i.test(other) ? "" : other)
    },
  )
  const plain = source.replaceAll(/\\(?:u[\da-f]{4}|x[\da-f]{2}|.)|[\\^$*+?()|{}]/gi, "")
  return [...escaped, ...plain].filter((character) => character !== "")
}

/** Texts that fit; none where the generator does not know a part of the syntax. */
function samplesOf(source: string, flags: string): string[] {
  try {
    const simple = new RegExp(source.replaceAll(/\(\?<?[!=][^)]*\)/g, ""), flags.replaceAll(/[gymsi]/g, ""))
    return fc.sample(fc.stringMatching(simple), { numRuns: 6, seed: 7 }).map((text) => text.slice(0, 60))
  } catch {
    return []
  }
}
