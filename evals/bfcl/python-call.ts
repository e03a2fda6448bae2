// Reads calls that are written in Python, such as `cd(folder='document')`: literals only.
import type { Json } from "karst"

export interface PythonCall {
  name: string
  positional: Json[]
  named: Record<string, Json>
}

/** Throws an Error that names the text and the place if it is not a call with literal arguments. */
export function parsePythonCall(text: string): PythonCall {
  const reader = new LiteralReader(text)
  const name = reader.word()
  const positional: Json[] = []
  const named: Record<string, Json> = {}
  reader.expect("(")
  while (!reader.skip(")")) {
    const key = reader.keyword()
    if (key === undefined) positional.push(reader.value())
    else named[key] = reader.value()
    if (!reader.skip(",") && !reader.sees(")")) reader.fail()
  }
  if (!reader.atEnd()) reader.fail()
  return { name, positional, named }
}

/** Reads literals of Python from a text, from left to right. */
class LiteralReader {
  private position = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  value(): Json {
    this.skipSpace()
    if (this.sees("'") || this.sees('"')) return this.strings()
    if (this.skip("[")) return this.items("]")
    if (this.skip("(")) return this.items(")")
    if (this.skip("{")) return this.members()
    const number = this.match(/[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y)
    if (number !== undefined) return Number(number.replaceAll("_", ""))
    const word = this.word()
    if (word === "True" || word === "False") return word === "True"
    if (word === "None") return null
    return this.fail()
  }

  word(): string {
    this.skipSpace()
    return this.match(/[A-Za-z_]\w*/y) ?? this.fail()
  }

  /** The name of a named argument, and its equals sign. */
  keyword(): string | undefined {
    this.skipSpace()
    return this.match(/[A-Za-z_]\w*\s*=(?!=)/y)?.replace(/\s*=$/, "")
  }

  expect(character: string): void {
    if (!this.skip(character)) this.fail()
  }

  skip(character: string): boolean {
    this.skipSpace()
    if (!this.sees(character)) return false
    this.position += character.length
    return true
  }

  sees(character: string): boolean {
    this.skipSpace()
    return this.text.startsWith(character, this.position)
  }

  atEnd(): boolean {
    this.skipSpace()
    return this.position === this.text.length
  }

  fail(): never {
    throw new Error(`Not a call with literal arguments, at character ${this.position}: ${this.text}`)
  }

  private items(end: string): Json[] {
    const items: Json[] = []
    while (!this.skip(end)) {
      items.push(this.value())
      if (!this.skip(",") && !this.sees(end)) this.fail()
    }
    return items
  }

  private members(): { [key: string]: Json } {
    const members: { [key: string]: Json } = {}
    while (!this.skip("}")) {
      const key = String(this.value())
      this.expect(":")
      members[key] = this.value()
      if (!this.skip(",") && !this.sees("}")) this.fail()
    }
    return members
  }

  /** One string, or several next to each other, which Python joins. */
  private strings(): string {
    let joined = ""
    while (this.sees("'") || this.sees('"')) {
      const body = this.match(/'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"/y) ?? this.fail()
      joined += unescapeText(body.slice(1, -1))
    }
    return joined
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.text)?.[0]
    this.position += found?.length ?? 0
    return found
  }

  private skipSpace(): void {
    this.match(/\s*/y)
  }
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\", "'": "'", '"': '"', "\n": "" }

function unescapeText(body: string): string {
  return body.replace(/\\(u[\da-fA-F]{4}|x[\da-fA-F]{2}|[\s\S])/g, (whole, code: string) => {
    if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return escapes[code] ?? whole
  })
}
