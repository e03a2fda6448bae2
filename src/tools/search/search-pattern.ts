import { type PatternToken, tokenizePattern } from "./pattern-tokens.ts"

/** What is searched for. The dialect is JavaScript's with Unicode, and what people are used to write besides: needless escapes, braces
 *  that mean themselves, `(?i)` in front, `(?P<name>…)`, `[[:alpha:]]`. */
export interface SearchPattern {
  source: string
  flags: string
  /** Whether a match may go over line breaks: then it is about the whole text, otherwise about each line. */
  isMultiline: boolean
  ignoreCase: boolean
  /** For ripgrep: fits wherever this pattern does, and maybe elsewhere. Undefined when it cannot be told. */
  wider: string | undefined
}

export interface PatternOptions {
  literal: boolean
  ignoreCase: boolean
  /** Whether `.` also stands for a line break. */
  multiline: boolean
}

/** Throws a SyntaxError that says what is wrong. */
export function compilePattern(text: string, options: PatternOptions): SearchPattern {
  const { literal, multiline } = options
  const [, letters = "", body = text] = (!literal && /^\(\?([ims]+)\)(.*)$/s.exec(text)) || []
  const ignoreCase = options.ignoreCase || letters.includes("i")
  const tokens = literal ? literalTokens(text) : tokenizePattern(body)
  const dotAll = multiline || letters.includes("s")
  const spans = dotAll || tokens.some(matchesLineBreak)
  const flags = ignoreCase ? "isu" : "su"
  const source = tokens.map((token) => toJavaScript(token, spans, dotAll)).join("")
  new RegExp(source, flags)
  return { source, flags, isMultiline: spans, ignoreCase, wider: ripgrep(tokens, { spans, dotAll, ignoreCase }) }
}

function literalTokens(text: string): PatternToken[] {
  return [...text.replaceAll("\r\n", "\n")].map((character) => ({
    type: "character",
    code: character.codePointAt(0) ?? 0,
  }))
}

const lineFeed = 0x0a

// A set of all but a few is rarely meant to leave the line.
function matchesLineBreak(token: PatternToken): boolean {
  if (token.type === "character") return token.code === lineFeed
  if (token.type === "unknown") return token.breaksLine ?? false
  if (token.type === "set" && token.not) return token.ranges.length === 0
  return token.type === "set" && token.ranges.some(([from, to]) => from === lineFeed && to === lineFeed)
}

// Lines have no line break; a whole text has line feeds alone.
function toJavaScript(token: PatternToken, spans: boolean, dotAll: boolean): string {
  switch (token.type) {
    case "character":
      return escapeCode(token.code, "\\u")
    case "any":
      return dotAll ? "." : "[^\\n]"
    case "set":
      return token.source
    case "start":
      return spans ? "(?<![^\\n])" : "^"
    case "end":
      return spans ? "(?=\\n|$)" : "$"
    default:
      return token.source
  }
}

interface Wide {
  spans: boolean
  dotAll: boolean
  ignoreCase: boolean
}

// Rust's dialect, on raw bytes: lines may end with a carriage return, begin with a byte order mark, and have bytes that are no UTF-8,
// which we read as U+FFFD. Conditions that Rust has not are left out, so it may find more, never less.
function ripgrep(tokens: readonly PatternToken[], { spans, dotAll, ignoreCase }: Wide): string | undefined {
  const before = spans ? "\\r?" : ""
  const any = dotAll ? `(?:${before}(?s:.)|${invalid})` : `(?:[^\\n]|${invalid})`
  const anything = spans ? `(?:${before}(?s:.)|${invalid})` : any
  const foldsCase = ignoreCase || tokens.some((token) => token.type === "open" && token.flags !== undefined)
  // V8 lets `(?i:…)` leak: `\w` beside it takes letters that only case makes equal to those of words.
  const folded = (set: string, { not }: { not: boolean }) => (foldsCase && !not ? `(?i:${set})` : set)
  let text = ""
  let skipped = 0
  for (const token of tokens) {
    // A look around is left out with all that is in it.
    if (skipped > 0 || (token.type === "open" && token.looks)) {
      if (token.type === "open") skipped++
      if (token.type === "close") skipped--
      continue
    }
    switch (token.type) {
      case "character":
        if (isSurrogate(token.code)) return undefined
        text +=
          token.code === lineFeed ? "(?:\\r?\\n)" : token.code === 0xfffd ? anything : escapeCode(token.code, "\\x")
        break
      case "any":
        text += any
        break
      case "set":
        text += token.ranges.flat().some(isSurrogate) ? anything : folded(rustSet(token, spans, before), token)
        break
      case "unknown":
        text += token.repeats ? `(?:${anything}*)` : anything
        break
      case "start":
        text += "^\\x{FEFF}?"
        break
      case "end":
        text += "(?:\\r?$)"
        break
      case "boundary":
        // Two letters beyond ASCII count as those of words when case does not.
        text += token.source === "\\b" && !foldsCase ? "(?-u:\\b)" : ""
        break
      case "open":
        if (token.flags !== undefined && /[ms]/.test(token.flags)) return undefined
        text += token.flags === undefined ? "(?:" : `(?${token.flags}:`
        break
      default:
        text += token.source
    }
  }
  return text
}

function rustSet({ not, ranges }: PatternToken & { type: "set" }, spans: boolean, before: string): string {
  const bounds = not && !spans ? [...ranges, [lineFeed, lineFeed] as const] : ranges
  const list = bounds.map(([from, to]) => `${escapeCode(from, "\\x")}-${escapeCode(to, "\\x")}`).join("")
  if (list === "") return `(?:${before}(?s:.)|${invalid})`
  const fitsInvalid = ranges.some(([from, to]) => from <= 0xfffd && to >= 0xfffd) !== not
  const set = `${before}[${not ? "^" : ""}${list}]`
  return fitsInvalid ? `(?:${set}|${invalid})` : before ? `(?:${set})` : set
}

const invalid = "(?-u:[\\x80-\\xFF]{1,3})"

function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff
}

function escapeCode(code: number, mark: "\\u" | "\\x"): string {
  const character = String.fromCodePoint(code)
  return /[A-Za-z0-9]/.test(character) ? character : `${mark}{${code.toString(16)}}`
}
