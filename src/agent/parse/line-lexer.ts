// Reads code line by line to know whether the next line starts inside a string or comment that spans lines.
export interface LineLexer {
  /** Reads one whole line. */
  readLine(text: string): void
  /** Returns true if the next line starts inside a string or comment. */
  isOpen(): boolean
  /** Returns true if that would be so after the start of a line. Reads nothing. */
  isOpenAfter(start: string): boolean
}

export function createLineLexer(language: "typescript" | "python"): LineLexer {
  return language === "python" ? createPythonLexer() : createTypescriptLexer()
}

function createPythonLexer(): LineLexer {
  let quote = ""
  const lexer: LineLexer = {
    isOpen: () => quote !== "",
    isOpenAfter(start) {
      const before = quote
      lexer.readLine(start)
      const open = lexer.isOpen()
      quote = before
      return open
    },
    readLine(text) {
      for (let index = 0; index < text.length; index++) {
        const char = text[index] ?? ""
        if (char === "\\") {
          index++
          continue
        }
        if (quote) {
          if (!text.startsWith(quote, index)) continue
          index += 2
          quote = ""
          continue
        }
        if (char === "#") return
        if (char !== '"' && char !== "'") continue
        if (text.startsWith(char.repeat(3), index)) {
          quote = char.repeat(3)
          index += 2
          continue
        }
        index = skipString(text, index, char)
      }
    },
  }
  return lexer
}

function createTypescriptLexer(): LineLexer {
  // The open template strings, each with the depth of braces inside its `${`; -1 inside its text.
  const templates: number[] = []
  let comment = false
  // Whether a slash would start a regular expression: after an operator, not after a value.
  let operand = true

  function template(text: string, index: number): number {
    for (let at = index; at < text.length; at++) {
      if (text[at] === "\\") at++
      else if (text[at] === "`") {
        templates.pop()
        operand = false
        return at
      } else if (text[at] === "$" && text[at + 1] === "{") {
        templates[templates.length - 1] = 0
        operand = true
        return at + 1
      }
    }
    return text.length
  }

  function brace(change: 1 | -1): void {
    const depth = templates.at(-1)
    if (depth === undefined) return
    templates[templates.length - 1] = depth === 0 && change === -1 ? -1 : depth + change
  }

  const lexer: LineLexer = {
    isOpen: () => comment || templates.at(-1) === -1,
    isOpenAfter(start) {
      const before = { templates: [...templates], comment, operand }
      lexer.readLine(start)
      const open = lexer.isOpen()
      templates.splice(0, templates.length, ...before.templates)
      comment = before.comment
      operand = before.operand
      return open
    },
    readLine(text) {
      for (let index = 0; index < text.length; index++) {
        if (comment) {
          const end = text.indexOf("*/", index)
          if (end === -1) return
          comment = false
          index = end + 1
          continue
        }
        if (templates.at(-1) === -1) {
          index = template(text, index)
          continue
        }
        const char = text[index] ?? ""
        if (char === "/" && text[index + 1] === "/") return
        if (char === "/" && text[index + 1] === "*") {
          comment = true
          index++
        } else if (char === "/" && operand) {
          index = skipRegex(text, index)
          operand = false
        } else if (char === '"' || char === "'") {
          index = skipString(text, index, char)
          operand = false
        } else if (char === "`") templates.push(-1)
        else if (isWordChar(char)) {
          const start = index
          while (isWordChar(text[index + 1])) index++
          operand = keywordsBeforeOperand.has(text.slice(start, index + 1))
        } else if (char > " ") {
          if (char === "{") brace(1)
          if (char === "}") brace(-1)
          operand = char !== ")" && char !== "]"
        }
      }
    },
  }
  return lexer
}

const keywordsBeforeOperand = new Set("return typeof case in of await yield void delete new throw else do".split(" "))

function isWordChar(char = ""): boolean {
  return (
    (char >= "a" && char <= "z") ||
    (char >= "A" && char <= "Z") ||
    (char >= "0" && char <= "9") ||
    char === "_" ||
    char === "$"
  )
}

function skipString(text: string, start: number, quote: string): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === "\\") index++
    else if (text[index] === quote) return index
  }
  return text.length
}

// A slash without the end of a regular expression within this many characters is a division.
const maxRegexChars = 1000

function skipRegex(text: string, start: number): number {
  let set = false
  for (let index = start + 1; index < Math.min(text.length, start + maxRegexChars); index++) {
    const char = text[index]
    if (char === "\\") index++
    else if (char === "[") set = true
    else if (char === "]") set = false
    else if (char === "/" && !set) return index
  }
  return start
}
