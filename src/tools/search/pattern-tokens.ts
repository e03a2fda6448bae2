import { readClass } from "./character-class.ts"
import { type Escape, readEscape } from "./pattern-escape.ts"

/** What a pattern is made of, one piece after the other. `source` is JavaScript. */
export type PatternToken =
  | { type: "character"; code: number }
  | { type: "any" | "start" | "end" }
  | SetToken
  /** One character or more that only JavaScript can tell. */
  | { type: "unknown"; source: string; repeats: boolean; breaksLine?: boolean }
  | { type: "boundary"; source: string }
  | { type: "open"; source: string; looks: boolean; flags?: string }
  | { type: "close" | "or" | "repeat"; source: string }

export interface SetToken {
  type: "set"
  source: string
  not: boolean
  ranges: [number, number][]
}

/** Takes a pattern apart. Throws a SyntaxError for what has no meaning; what is left for JavaScript to refuse passes. */
export function tokenizePattern(pattern: string): PatternToken[] {
  const tokens: PatternToken[] = []
  for (let at = 0; at < pattern.length; ) {
    const { token, end } = readToken(pattern, at)
    at = end
    const last = tokens.at(-1)
    // Texts are read with line feeds alone, whatever ends their lines.
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
    case "\\":
      return escapeToken(readEscape(pattern, at))
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

function escapeToken({ end, ...found }: Escape): ReadToken {
  if (found.code !== undefined) return { token: { type: "character", code: found.code }, end }
  if (found.boundary) return { token: { type: "boundary", source: found.source }, end }
  if (!found.ranges) return { token: { type: "unknown", source: found.source, repeats: found.repeats ?? false }, end }
  return { token: { type: "set", source: found.source, not: found.not ?? false, ranges: found.ranges }, end }
}

// A brace that says no number of times means itself.
function readRepeat(pattern: string, at: number): ReadToken {
  const [source] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(at, at + 50)) ?? []
  if (source === undefined) return { token: { type: "character", code: 0x7b }, end: at + 1 }
  return { token: { type: "repeat", source }, end: at + source.length }
}

function readGroup(pattern: string, at: number): ReadToken {
  const rest = pattern.slice(at, at + 200)
  const [look] = /^\(\?<?[=!]/.exec(rest) ?? []
  if (look) return open(at + look.length, look, true)
  const [named, name = ""] = /^\(\?P?<([^>]*)>/.exec(rest) ?? []
  if (named) return open(at + named.length, `(?<${name}>`, false)
  const [flagged, flags] = /^\(\?([ims]*(?:-[ims]+)?):/.exec(rest) ?? []
  if (flagged) return open(at + flagged.length, flagged, false, flags || undefined)
  return open(at + 1, "(", false)
}

function open(end: number, source: string, looks: boolean, flags?: string): ReadToken {
  return { token: { type: "open", source, looks, ...(flags !== undefined && { flags }) }, end }
}

function isCharacter(token: PatternToken, code: number): boolean {
  return token.type === "character" && token.code === code
}
