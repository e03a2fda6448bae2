// Compiles the pattern of a search to a JavaScript regular expression.
import { type PatternToken, tokenizePattern } from "./pattern-tokens.ts"

/** A compiled pattern. The dialect is JavaScript's with Unicode, plus common forms of other dialects: needless escapes,
 *  literal braces, leading flags such as `(?i)`, `(?P<name>…)`, `[[:alpha:]]`. */
export interface SearchPattern {
  source: string
  flags: string
  /** True if a match may contain line breaks. The pattern is then applied to the whole text instead of each line. */
  isMultiline: boolean
  ignoreCase: boolean
  /** A text that every match contains, for the preselection of files; undefined if none is known. */
  requiredText: string | undefined
}

export interface PatternOptions {
  literal: boolean
  ignoreCase: boolean
  /** True if `.` also matches line breaks. */
  multiline: boolean
}

/** Compiles a pattern. Throws a SyntaxError that says what is wrong. */
export function compilePattern(text: string, options: PatternOptions): SearchPattern {
  const { literal, multiline } = options
  const [, letters = "", body = text] = (!literal && /^\(\?([ims]+)\)(.*)$/s.exec(text)) || []
  const ignoreCase = options.ignoreCase || letters.includes("i")
  const tokens = literal ? literalTokens(text) : tokenizePattern(body)
  const dotAll = multiline || letters.includes("s")
  const isMultiline = dotAll || tokens.some(matchesLineBreak)
  const flags = ignoreCase ? "isu" : "su"
  const source = tokens.map((token) => toJavaScript(token, isMultiline, dotAll)).join("")
  new RegExp(source, flags)
  return { source, flags, isMultiline, ignoreCase, requiredText: findRequiredText(tokens) }
}

function literalTokens(text: string): PatternToken[] {
  return [...text.replaceAll("\r\n", "\n")].map((character) => ({
    type: "character",
    code: character.codePointAt(0) ?? 0,
  }))
}

function matchesLineBreak(token: PatternToken): boolean {
  return token.type === "class" ? token.breaksLine : token.type === "character" && token.code === 0x0a
}

// Single lines contain no line break; a whole text contains only LF line breaks.
function toJavaScript(token: PatternToken, isMultiline: boolean, dotAll: boolean): string {
  switch (token.type) {
    case "character":
      return escapeCode(token.code)
    case "any":
      return dotAll ? "." : "[^\\n]"
    case "start":
      return isMultiline ? "(?<![^\\n])" : "^"
    case "end":
      return isMultiline ? "(?=\\n|$)" : "$"
    default:
      return token.source
  }
}

/** Finds the longest run of characters outside of groups that are not repeated. A pattern with alternatives has
 *  none. */
function findRequiredText(tokens: readonly PatternToken[]): string | undefined {
  let depth = 0
  let run = ""
  let longest = ""
  for (const [index, token] of tokens.entries()) {
    if (token.type === "or" && depth === 0) return undefined
    if (token.type === "open") depth++
    if (token.type === "close") depth--
    const isRequired = depth === 0 && tokens[index + 1]?.type !== "repeat"
    run =
      isRequired && token.type === "character" && isOrdinary(token.code) ? run + String.fromCodePoint(token.code) : ""
    if (run.length > longest.length) longest = run
  }
  return longest === "" ? undefined : longest
}

// Other programs may read control characters, lone surrogates, byte order marks and replacement characters differently.
function isOrdinary(code: number): boolean {
  return code >= 0x20 && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfeff && code !== 0xfffd
}

function escapeCode(code: number): string {
  const character = String.fromCodePoint(code)
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${code.toString(16)}}`
}
