// Highlights code while it is streamed. A token is returned once it is complete, so drawn text never changes.
import type { TextStyle } from "./paint.ts"

export interface Segment {
  text: string
  style: TextStyle
}

export interface Highlighter {
  add(text: string): Segment[]
  end(): Segment[]
}

interface Language {
  token: RegExp
  keywords: Set<string>
  constants: Set<string>
  /** For each token that may span lines, by its opening text: the pattern of the rest. */
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

/** Longer tokens are returned in pieces, so that little text is scanned again when more arrives. */
const maxTokenLength = 2000

const languages = new Map<string, Language>()
for (const name of "ts typescript tsx js javascript mjs jsx json jsonc".split(" ")) languages.set(name, typescript)
for (const name of ["py", "python"]) languages.set(name, python)

export function createHighlighter(name: string): Highlighter {
  const language = languages.get(name.toLowerCase())
  if (!language) return { add: (text) => [{ text, style: "plain" }], end: () => [] }
  const { token, spans, keywords, constants } = language
  let buffer = ""
  /** The open spans, innermost last; for `${`, the number of braces open inside it. */
  const nesting: { span: string; style: TextStyle; braces: number }[] = []
  let valueBefore = false

  function next(last: boolean): Segment | undefined {
    const inside = nesting.at(-1)
    if (inside && inside.span !== "${") return nextInSpan(inside, last)
    token.lastIndex = 0
    let text = token.exec(buffer)?.[0]
    if (text === undefined) return undefined
    // After a value, a slash is a division.
    if (text.length > 1 && text[0] === "/" && text[1] !== "/" && text[1] !== "*" && valueBefore) text = "/"
    // The character after a token must be known, because a word before `(` is a call. A possible regular expression
    // waits for the end of its line.
    const mayBegin = text === "/" && !valueBefore && !buffer.slice(0, maxTokenLength).includes("\n")
    const whole = text.length < buffer.length && !mayBegin
    if (!last && !whole && buffer.length < maxTokenLength) return undefined
    return { text, style: classify(text, inside) }
  }

  function nextInSpan(inside: { span: string; style: TextStyle }, last: boolean): Segment | undefined {
    const end = spans[inside.span]
    if (!end) return undefined
    end.lastIndex = 0
    const text = end.exec(buffer)?.[0]
    if (text === undefined) {
      // Complete lines can be drawn. The last line may contain part of the end mark, so up to three characters wait.
      const shown = Math.max(buffer.lastIndexOf("\n") + 1, buffer.length < maxTokenLength ? 0 : buffer.length - 3)
      const length = last ? buffer.length : shown
      return length === 0 ? undefined : { text: buffer.slice(0, length), style: inside.style }
    }
    if (text.endsWith("${")) nesting.push({ span: "${", style: "plain", braces: 0 })
    else nesting.pop()
    valueBefore = true
    return { text, style: inside.style }
  }

  function classify(text: string, inside: { braces: number } | undefined): TextStyle {
    const before = valueBefore
    if (!/^\s/.test(text)) valueBefore = /^["'\p{L}\p{N}_$)\]}]/u.test(text) && !keywords.has(text)
    const opened = text.replace(/^[rbfu]{1,2}(?=["'])/i, "")
    if (Object.hasOwn(spans, opened)) {
      const style = opened === "/*" ? "dim" : "green"
      nesting.push({ span: opened, style, braces: 0 })
      return style
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
