/** What a backslash and what follows it stand for. */
export interface Escape {
  /** Where the pattern goes on. */
  end: number
  /** As JavaScript takes it. */
  source: string
  /** One character. */
  code?: number
  /** One of these characters, or with `not` one of the others. */
  ranges?: [number, number][]
  not?: boolean
  /** A place between characters. */
  boundary?: boolean
  /** Any number of characters. */
  repeats?: boolean
}

/** Reads the escape that begins at a backslash. */
export function readEscape(pattern: string, at: number): Escape {
  const rest = pattern.slice(at + 1, at + 101)
  for (const [form, meaning] of escapeForms) {
    const match = form.exec(rest)
    if (match) return { source: `\\${match[0]}`, end: at + 1 + match[0].length, ...meaning(match) }
  }
  throw new SyntaxError(rest === "" ? "it ends with a backslash" : `\\${rest[0]} has no meaning`)
}

export const digits: [number, number][] = [[0x30, 0x39]]
export const wordCharacters: [number, number][] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
export const spaces: [number, number][] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

const classes: { [letter: string]: [number, number][] } = { d: digits, w: wordCharacters, s: spaces }
const controls: { [letter: string]: number } = { f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b, "0": 0 }

const escapeForms: [RegExp, (match: RegExpExecArray) => Omit<Escape, "end" | "source">][] = [
  [/^[dwsDWS]/, ([letter]) => ({ ranges: classes[letter.toLowerCase()] ?? [], not: letter !== letter.toLowerCase() })],
  [/^[bB]/, () => ({ boundary: true })],
  [/^(?:[fnrtv]|0(?!\d))/, ([letter]) => ({ code: controls[letter] ?? 0 })],
  [
    /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/,
    ([, high = "", low = ""]) => ({ code: pair(high, low) }),
  ],
  [
    /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})/,
    ([, byte, unit, point]) => ({ code: hex(byte ?? unit ?? point) }),
  ],
  [/^c([A-Za-z])/, ([, letter = ""]) => ({ code: letter.charCodeAt(0) % 32 })],
  [/^[pP]\{[^}]*\}/, () => ({})],
  [/^(?:[1-9]\d*|k<[^>]*>)/, () => ({ repeats: true })],
  // Whatever is no letter and no digit means itself.
  [/^[^A-Za-z0-9]/u, ([character]) => ({ code: character.codePointAt(0) ?? 0 })],
]

function pair(high: string, low: string): number {
  return String.fromCharCode(hex(high), hex(low)).codePointAt(0) ?? 0
}

function hex(digits = ""): number {
  const code = Number.parseInt(digits, 16)
  if (code > 0x10ffff) throw new SyntaxError(`there is no character ${digits}`)
  return code
}
