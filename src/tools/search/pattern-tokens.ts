// Splits a search pattern into tokens.
import { readClass } from "./character-class.ts"
import { readEscape } from "./pattern-escape.ts"

/** One token of a pattern. `source` is its JavaScript source. */
export type PatternToken =
  | { type: "character"; code: number }
  | { type: "any" | "start" | "end" }
  /** A class in brackets. `breaksLine` is true if it is meant to match line breaks. */
  | { type: "class"; source: string; breaksLine: boolean }
  | { type: "escape" | "open" | "close" | "or" | "repeat"; source: string }

/** Splits a pattern. Throws a SyntaxError for parts without a meaning. Other errors are found when JavaScript compiles
 *  the pattern. */
export function tokenizePattern(pattern: string): PatternToken[] {
  const tokens: PatternToken[] = []
  for (let at = 0; at < pattern.length; ) {
    const { token, end } = readToken(pattern, at)
    at = end
    const last = tokens.at(-1)
    // Texts are searched with LF line breaks, so CRLF in a pattern means LF.
    if (isCharacter(token, 0x0a) && last && isCharacter(last, 0x0d)) tokens.pop()
    tokens.push(token)
  }
  return tokens
}

interface ReadToken {
  token: PatternToken
  end: number
}

function readToken(pattern: string, at: number): ReadToken {
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
  const one = (token: PatternToken): ReadToken => ({ token, end: at + character.length })
  switch (character) {
    case "\\": {
      const { code, source, end } = readEscape(pattern, at)
      return { token: code === undefined ? { type: "escape", source } : { type: "character", code }, end }
    }
    case "[":
      return readClass(pattern, at)
    case "(":
      return readGroup(pattern, at)
    case ")":
      return one({ type: "close", source: ")" })
    case "|":
      return one({ type: "or", source: "|" })
    case ".":
      return one({ type: "any" })
    case "^":
      return one({ type: "start" })
    case "$":
      return one({ type: "end" })
    case "*":
    case "+":
    case "?":
    case "{":
      return readRepeat(pattern, at)
    default:
      return one({ type: "character", code: character.codePointAt(0) ?? 0 })
  }
}

// A brace without a count is a literal brace.
function readRepeat(pattern: string, at: number): ReadToken {
  const [source] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(at, at + 50)) ?? []
  if (source === undefined) return { token: { type: "character", code: 0x7b }, end: at + 1 }
  return { token: { type: "repeat", source }, end: at + source.length }
}

function readGroup(pattern: string, at: number): ReadToken {
  const rest = pattern.slice(at, at + 200)
  const [named, name] = /^\(\?P?<(?![=!])([^>]*)>/.exec(rest) ?? []
  if (named) return { token: { type: "open", source: `(?<${name}>` }, end: at + named.length }
  // A look-around, a group with flags, or a plain group.
  const [source = "("] = /^\(\?(?:<?[=!]|[ims]*(?:-[ims]+)?:)/.exec(rest) ?? []
  return { token: { type: "open", source }, end: at + source.length }
}

function isCharacter(token: PatternToken, code: number): boolean {
  return token.type === "character" && token.code === code
}
