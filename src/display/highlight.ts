import type { TextStyle } from "./paint.ts"

export interface Segment {
  text: string
  style: TextStyle
}

/** Colours code while it comes in: a token is given out once it is whole, so the pieces only ever append. */
export interface Highlighter {
  add(text: string): Segment[]
  end(): Segment[]
}

interface Language {
  token: RegExp
  keywords: Set<string>
  constants: Set<string>
  /** How tokens that may span lines go on, by what opened them. */
  spans: Record<string, RegExp>
}

const typescript: Language = {
  // Comment, string, template, regex where a value may begin, number, word, space, the rest.
  token:
    /\/\/[^\n]*|\/\*|"(?:[^"\\\n]|\\(?:.|$))*"?|'(?:[^'\\\n]|\\(?:.|$))*'?|`|\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,200}\]){1,500}\/[a-z]*|\d[\w.]*|[\p{L}_$][\p{L}\p{N}_$]*|\s+|[^\s]/uy,
  keywords: new Set(
    "as async await break case catch class const continue default delete do else enum export extends finally for from function if implements import in instanceof interface let namespace new of return satisfies static super switch this throw try type typeof using var void while yield".split(
      " ",
    ),
  ),
  constants: new Set("true false null undefined NaN Infinity".split(" ")),
  spans: { "/*": /[\s\S]*?\*\//y, "`": /(?:[^`\\]|\\[\s\S])*?(?:`|\$\{)/y },
}

const python: Language = {
  token:
    /#[^\n]*|[rbfuRBFU]{0,2}(?:"""|'''|"(?!"")(?:[^"\\\n]|\\(?:.|$))*"?|'(?!'')(?:[^'\\\n]|\\(?:.|$))*'?)|@[\p{L}_][\p{L}\p{N}_.]*|\d[\w.]*|[\p{L}_][\p{L}\p{N}_]*|\s+|[^\s]/uy,
  keywords: new Set(
    "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match case nonlocal not or pass raise return try while with yield".split(
      " ",
    ),
  ),
  constants: new Set("True False None".split(" ")),
  spans: { '"""': /[\s\S]*?"""/y, "'''": /[\s\S]*?'''/y },
}

/** A token that is longer is given out in pieces, so that little is read again when more of it comes. */
const maxTokenLength = 2000

const languages = new Map<string, Language>()
for (const name of "ts typescript tsx js javascript mjs jsx json jsonc".split(" ")) languages.set(name, typescript)
for (const name of ["py", "python"]) languages.set(name, python)

export function createHighlighter(name: string): Highlighter {
  const language = languages.get(name.toLowerCase())
  if (!language) return { add: (text) => [{ text, style: "plain" }], end: () => [] }
  const { token, spans, keywords, constants } = language
  let buffer = ""
  /** The spans we are in, innermost last; for `${` the braces that are still open in it. */
  const nesting: { span: string; look: TextStyle; braces: number }[] = []
  let valueBefore = false

  function next(last: boolean): Segment | undefined {
    const inside = nesting.at(-1)
    if (inside && inside.span !== "${") return nextInSpan(inside, last)
    token.lastIndex = 0
    let text = token.exec(buffer)?.[0]
    if (text === undefined) return undefined
    // A slash after a value divides.
    if (text.length > 1 && text[0] === "/" && text[1] !== "/" && text[1] !== "*" && valueBefore) text = "/"
    // A word before its bracket is a call, so the character after a token must be there too; what may still become a
    // regular expression waits for the end of its line.
    const mayBegin = text === "/" && !valueBefore && !buffer.slice(0, maxTokenLength).includes("\n")
    const whole = text.length < buffer.length && !mayBegin
    if (!last && !whole && buffer.length < maxTokenLength) return undefined
    return { text, style: classify(text, inside) }
  }

  function nextInSpan(inside: { span: string; look: TextStyle }, last: boolean): Segment | undefined {
    const end = spans[inside.span]
    if (!end) return undefined
    end.lastIndex = 0
    const text = end.exec(buffer)?.[0]
    if (text === undefined) {
      // Whole lines of it are safe to show; the last may hold half an end mark, and not more of it than that is kept.
      const shown = Math.max(buffer.lastIndexOf("\n") + 1, buffer.length < maxTokenLength ? 0 : buffer.length - 3)
      const length = last ? buffer.length : shown
      return length === 0 ? undefined : { text: buffer.slice(0, length), style: inside.look }
    }
    if (text.endsWith("${")) nesting.push({ span: "${", look: "plain", braces: 0 })
    else nesting.pop()
    valueBefore = true
    return { text, style: inside.look }
  }

  function classify(text: string, inside: { braces: number } | undefined): TextStyle {
    const before = valueBefore
    if (!/^\s/.test(text)) valueBefore = /^["'\p{L}\p{N}_$)\]}]/u.test(text) && !keywords.has(text)
    const opened = text.replace(/^[rbfu]{1,2}(?=["'])/i, "")
    if (Object.hasOwn(spans, opened)) {
      const look = opened === "/*" ? "dim" : "green"
      nesting.push({ span: opened, look, braces: 0 })
      return look
    }
    if (inside && text === "{") inside.braces++
    if (inside && text === "}" && inside.braces-- === 0) {
      nesting.pop()
      return "green"
    }
    if (text.startsWith("//") || text.startsWith("#")) return "dim"
    if (/^[rbfu]{0,2}["']/i.test(text)) return "green"
    if (/^\d/.test(text) || constants.has(text)) return "yellow"
    if (text.length > 2 && text.startsWith("/") && !before) return "red"
    if (text.startsWith("@")) return "cyan"
    if (keywords.has(text)) return "magenta"
    if (!/^[\p{L}_$]/u.test(text)) return "plain"
    if (buffer[text.length] === "(") return "blue"
    return /^\p{Lu}\p{Ll}/u.test(text) ? "cyan" : "plain"
  }

  function drain(last: boolean): Segment[] {
    const segments: Segment[] = []
    for (let segment = next(last); segment; segment = next(last)) {
      segments.push(segment)
      buffer = buffer.slice(segment.text.length)
    }
    return segments
  }

  return {
    add(text) {
      buffer += text
      return drain(false)
    },
    end: () => drain(true),
  }
}
