// Reads character classes of a search pattern, such as `[a-z\d]` and `[[:alpha:]]`.
import { readEscape } from "./pattern-escape.ts"
import type { PatternToken } from "./pattern-tokens.ts"

/** Reads the class that begins at `at`. A dash that forms no range is a literal dash. */
export function readClass(pattern: string, at: number): { token: PatternToken; end: number } {
  const isNegated = pattern[at + 1] === "^"
  const members: ClassMember[] = []
  let position = at + (isNegated ? 2 : 1)
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
      ...first,
      source: `${first.source}-${last.source}`,
      isLineFeed: first.isLineFeed && last.isLineFeed,
    })
  }
  const source = `[${isNegated ? "^" : ""}${members.map((member) => member.source).join("")}]`
  return { token: { type: "class", source, breaksLine: breaksLine(source, isNegated, members) }, end: position + 1 }
}

interface ClassMember {
  source: string
  /** Set if it is a single character. */
  code?: number
  /** True for a line feed that is written as a single character. */
  isLineFeed: boolean
  /** True for negated classes, properties and the like, whose characters only JavaScript knows. */
  isUnknown?: boolean
  end: number
}

/** Returns true if the class is meant to match line breaks. A class of all but a few characters rarely is. */
function breaksLine(source: string, isNegated: boolean, members: readonly ClassMember[]): boolean {
  // `[\s\S]` and similar mean any character, including line breaks.
  if (members.some(({ isUnknown }) => isUnknown)) {
    return ["d", "s", "w"].some((kind) => source.includes(`\\${kind}`) && source.includes(`\\${kind.toUpperCase()}`))
  }
  return isNegated ? members.length === 0 : members.some(({ isLineFeed }) => isLineFeed)
}

function readMember(pattern: string, at: number): ClassMember {
  const posix = /^\[:(\w+):\]/.exec(pattern.slice(at, at + 20))
  const named = posixClasses.get(posix?.[1] ?? "")
  if (posix && named) return { source: named, isLineFeed: false, end: at + posix[0].length }
  const code = pattern.codePointAt(at) ?? 0
  if (code !== 0x5c) return singleCharacter(code, at + (code > 0xffff ? 2 : 1))
  // Inside a class, \b is a backspace.
  if (pattern[at + 1] === "b") return singleCharacter(0x08, at + 2)
  const { code: escaped, source, isPositiveClass, end } = readEscape(pattern, at)
  if (escaped !== undefined) return singleCharacter(escaped, end)
  return { source, isLineFeed: false, isUnknown: !isPositiveClass, end }
}

function singleCharacter(code: number, end: number): ClassMember {
  return { source: `\\u{${code.toString(16)}}`, code, isLineFeed: code === 0x0a, end }
}

const posixClasses = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["blank", "\\t "],
  ["digit", "0-9"],
  ["lower", "a-z"],
  ["punct", "!-\\/:-@\\[-`\\{-~"],
  ["space", "\\s"],
  ["upper", "A-Z"],
  ["word", "0-9A-Za-z_"],
  ["xdigit", "0-9A-Fa-f"],
])
