// Parses a Python literal: dictionaries, lists, tuples, texts, numbers, True, False and None. Runs no code.

export type PythonValue = string | number | boolean | null | PythonValue[] | { [key: string]: PythonValue }

/** A text that is not a literal. `offset` is the place of the problem. */
export class PythonLiteralError extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Parses the literal that begins at an offset. What follows it is not read. Throws a `PythonLiteralError`. */
export function parsePythonLiteral(text: string, start: number): PythonValue {
  let at = start

  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at += found[0].length
    return found ?? undefined
  }
  const skip = () => void take(space)
  const fail = (message: string): never => {
    throw new PythonLiteralError(message, at)
  }

  function value(depth: number): PythonValue {
    skip()
    if (depth > 100) fail("this is nested too deeply")
    if (take(/\{/y)) return dictionary(depth)
    if (take(/\[/y)) return items("]", depth)
    if (take(/\(/y)) return parenthesised(depth)
    const texts = adjacentTexts()
    if (texts !== undefined) return texts
    const number = take(numberPattern)
    if (number) return Number(number[0].replaceAll("_", ""))
    const word = take(/[A-Za-z_]\w*/y)?.[0]
    if (word === "True" || word === "False") return word === "True"
    if (word === "None") return null
    at -= word?.length ?? 0
    return fail(word === undefined ? "a value is expected" : `"${word}" is not a literal value: only literals are read`)
  }

  function dictionary(depth: number): PythonValue {
    const entries: [string, PythonValue][] = []
    for (skip(); !take(/\}/y); skip()) {
      const key = value(depth + 1)
      if (typeof key === "object") fail("a key must be a text or a number")
      skip()
      if (!take(/:/y)) fail('":" is expected')
      entries.push([String(key), value(depth + 1)])
      skip()
      if (!take(/,/y) && text[at] !== "}") fail('"," or "}" is expected')
    }
    return Object.fromEntries(entries)
  }

  function items(close: string, depth: number): PythonValue[] {
    const list: PythonValue[] = []
    for (skip(); text[at] !== close; skip()) {
      list.push(value(depth + 1))
      skip()
      if (!take(/,/y) && text[at] !== close) fail(`"," or "${close}" is expected`)
    }
    at++
    return list
  }

  /** A tuple, or one value in parentheses. */
  function parenthesised(depth: number): PythonValue {
    const begin = at
    const list = items(")", depth)
    const [only] = list
    return list.length === 1 && only !== undefined && !/,\s*\)$/.test(text.slice(begin, at)) ? only : list
  }

  /** Texts next to each other are one text. */
  function adjacentTexts(): string | undefined {
    let joined: string | undefined
    for (let found = oneText(); found !== undefined; found = oneText()) {
      joined = (joined ?? "") + found
      skip()
    }
    return joined
  }

  function oneText(): string | undefined {
    const found = take(textPattern)
    if (!found) return undefined
    const [, prefix = "", ...bodies] = found
    if (/f/i.test(prefix)) fail("an f-string is not a literal value: only literals are read")
    const body = bodies.find((each) => each !== undefined) ?? ""
    return /r/i.test(prefix) ? body : unescapeText(body)
  }

  return value(0)
}

const space = /(?:\s|#[^\n]*|\\\n)*/y
const numberPattern = /[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y
const textPattern =
  /([rRuUbBfF]{0,2})(?:"""((?:[^\\]|\\[\s\S])*?)"""|'''((?:[^\\]|\\[\s\S])*?)'''|"((?:[^"\\\n]|\\[\s\S])*)"|'((?:[^'\\\n]|\\[\s\S])*)')/y

function unescapeText(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n)|(.))/gs,
    (_, x, u, U, line, one) => {
      if (line !== undefined) return ""
      if (one !== undefined) return escapes[one as string] ?? (/[\\'"]/.test(one) ? one : `\\${one}`)
      return String.fromCodePoint(Number.parseInt(x ?? u ?? U, 16))
    },
  )
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "0": "\0" }
