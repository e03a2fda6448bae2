import { digits, readEscape, spaces, wordCharacters } from "./pattern-escape.ts"
import type { PatternToken, SetToken } from "./pattern-tokens.ts"

/** Reads a set in brackets that begins at `at`. A dash that makes no range means itself. */
export function readClass(pattern: string, at: number): { token: PatternToken; end: number } {
  const not = pattern[at + 1] === "^"
  const members: ClassMember[] = []
  let position = at + (not ? 2 : 1)
  while (pattern[position] !== "]") {
    if (position >= pattern.length) throw new SyntaxError('it has a "[" without its "]"')
    const first = readMember(pattern, position)
    position = first.end
    const isRange = pattern[position] === "-" && pattern[position + 1] !== "]" && first.code !== undefined
    const last = isRange && position + 1 < pattern.length ? readMember(pattern, position + 1) : undefined
    if (first.code === undefined || last?.code === undefined) {
      members.push(first)
      continue
    }
    if (last.code < first.code) throw new SyntaxError("a range in brackets is out of order")
    position = last.end
    members.push({
      source: `${escapeCode(first.code)}-${escapeCode(last.code)}`,
      ranges: [[first.code, last.code]],
      end: position,
    })
  }
  const source = `[${not ? "^" : ""}${members.map((member) => member.source).join("")}]`
  return { token: classToken(source, not, members), end: position + 1 }
}

interface ClassMember {
  source: string
  code?: number
  /** Absent when only JavaScript can tell. */
  ranges?: [number, number][]
  end: number
}

function classToken(source: string, not: boolean, members: readonly ClassMember[]): PatternToken {
  const ranges: SetToken["ranges"] = []
  for (const member of members) {
    // `[\s\S]` and its like are written to mean any character, line breaks too.
    if (!member.ranges) return { type: "unknown", source, repeats: false, breaksLine: isAnyCharacter(source) }
    ranges.push(...member.ranges)
  }
  return { type: "set", source, not, ranges }
}

function isAnyCharacter(source: string): boolean {
  return ["d", "s", "w"].some((kind) => source.includes(`\\${kind}`) && source.includes(`\\${kind.toUpperCase()}`))
}

function readMember(pattern: string, at: number): ClassMember {
  const posix = /^\[:(\w+):\]/.exec(pattern.slice(at, at + 20))
  const named = posixClasses.get(posix?.[1] ?? "")
  if (posix && named) {
    const source = named.map(([from, to]) => `${escapeCode(from)}-${escapeCode(to)}`).join("")
    return { source, ranges: named, end: at + posix[0].length }
  }
  const code = pattern.codePointAt(at) ?? 0
  if (code !== 0x5c) return singleCharacter(code, at + (code > 0xffff ? 2 : 1))
  // Here, and only here, it is the backspace.
  if (pattern[at + 1] === "b") return singleCharacter(0x08, at + 2)
  const found = readEscape(pattern, at)
  if (found.code !== undefined) return singleCharacter(found.code, found.end)
  const { source, ranges, not, end } = found
  return { source, end, ...(ranges && !not && { ranges }) }
}

function singleCharacter(code: number, end: number): ClassMember {
  return { source: escapeCode(code), code, ranges: [[code, code]], end }
}

function escapeCode(code: number): string {
  return `\\u{${code.toString(16)}}`
}

const upper: [number, number] = [0x41, 0x5a]
const lower: [number, number] = [0x61, 0x7a]

const posixClasses = new Map<string, [number, number][]>(
  Object.entries<[number, number][]>({
    alnum: [...digits, upper, lower],
    alpha: [upper, lower],
    blank: [
      [0x09, 0x09],
      [0x20, 0x20],
    ],
    digit: digits,
    lower: [lower],
    punct: [
      [0x21, 0x2f],
      [0x3a, 0x40],
      [0x5b, 0x60],
      [0x7b, 0x7e],
    ],
    space: spaces,
    upper: [upper],
    word: wordCharacters,
    xdigit: [...digits, [0x41, 0x46], [0x61, 0x66]],
  }),
)
