// Parses JSON and says where and why a text is not JSON. Node's own messages often lack the position.
import { ConfigError } from "../core/errors.ts"
import { positionAt } from "../runtime/compiler/text-positions.ts"

export type ParsedJson = { value: unknown } | { problem: string; offset: number }

/** Parses a text as JSON, or returns the first problem and its offset. A comment or a comma too many is named. */
export function parseJson(text: string): ParsedJson {
  const source = text.replace(/^\uFEFF/, " ")
  try {
    return { value: JSON.parse(source) }
  } catch (error) {
    const found = findProblem(source)
    return found ?? { problem: error instanceof Error ? error.message : String(error), offset: 0 }
  }
}

/** Parses the text of a file as JSON. Throws a `ConfigError` with file, line and column if it is none. */
export function parseJsonFile(file: string, text: string): unknown {
  const parsed = parseJson(text)
  if ("value" in parsed) return parsed.value
  const { line, column } = positionAt(text, parsed.offset)
  throw new ConfigError(`${file}:${line}:${column}: this is not valid JSON: ${parsed.problem}.`)
}

interface Problem {
  problem: string
  offset: number
}

function findProblem(text: string): Problem | undefined {
  let at = 0

  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at += found[0].length
    return found !== null
  }
  const isAt = (token: string) => text.startsWith(token, at)
  const fail = (expected: string): never => {
    const hint = text.slice(at, at + 2)
    if (at >= text.length) throw new JsonProblem(`the file ends here, and ${expected} is expected`, at)
    if (hint === "//" || hint === "/*") throw new JsonProblem("JSON has no comments: remove this one", at)
    if (text[at] === "'") throw new JsonProblem('JSON has only double quotes: write "…"', at)
    throw new JsonProblem(`${expected} is expected, and there is ${JSON.stringify(nextWord(text, at))}`, at)
  }

  function value(depth: number): void {
    take(space)
    if (depth > 200) throw new JsonProblem("this is nested too deeply", at)
    if (isAt("{")) return members("}", depth, member)
    if (isAt("[")) return members("]", depth, value)
    if (!take(text_) && !take(literal)) fail("a value")
  }

  function member(depth: number): void {
    if (!take(text_)) fail("a name in double quotes")
    take(space)
    if (!take(/:/y)) fail('":"')
    value(depth)
  }

  function members(close: string, depth: number, each: (depth: number) => void): void {
    at++
    take(space)
    if (isAt(close)) return void at++
    for (;;) {
      take(space)
      each(depth + 1)
      take(space)
      if (isAt(close)) return void at++
      if (!isAt(",")) fail(`"," or "${close}"`)
      const comma = at++
      take(space)
      if (isAt(close)) throw new JsonProblem(`there is a comma too many before the "${close}"`, comma)
    }
  }

  try {
    value(0)
    take(space)
    if (at < text.length) fail("the end of the file")
    return undefined
  } catch (error) {
    if (error instanceof JsonProblem) return { problem: error.message, offset: error.offset }
    throw error
  }
}

class JsonProblem extends Error {
  readonly offset: number
  constructor(problem: string, offset: number) {
    super(problem)
    this.offset = offset
  }
}

const space = /[ \t\r\n]*/y
const text_ = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const literal = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w$])/y

function nextWord(text: string, at: number): string {
  return /^(?:[\w$]{1,20}|.)/su.exec(text.slice(at, at + 40))?.[0] ?? ""
}
