// Reads escapes of a search pattern, such as `\d` and `\u00e9`.

/** The meaning of a backslash and the characters after it. */
export interface Escape {
  /** Where the pattern continues. */
  end: number
  /** The JavaScript source. */
  source: string
  /** Set if it is a single character. */
  code?: number
  /** True for `\d`, `\w` and `\s`. */
  isPositiveClass?: boolean
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

const controls: { [letter: string]: number } = { f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b, "0": 0 }

const escapeForms: [RegExp, (match: RegExpExecArray) => Omit<Escape, "end" | "source">][] = [
  [/^[dws]/, () => ({ isPositiveClass: true })],
  [/^(?:[fnrtv]|0(?!\d))/, ([letter]) => ({ code: controls[letter] ?? 0 })],
  [
    /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/,
    ([, high = "", low = ""]) => ({ code: String.fromCharCode(hex(high), hex(low)).codePointAt(0) ?? 0 }),
  ],
  [
    /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})/,
    ([, byte, unit, point]) => ({ code: hex(byte ?? unit ?? point) }),
  ],
  [/^c([A-Za-z])/, ([, letter = ""]) => ({ code: letter.charCodeAt(0) % 32 })],
  // Other classes, word boundaries, and references to groups.
  [/^(?:[DWSbB]|[pP]\{[^}]*\}|[1-9]\d*|k<[^>]*>)/, () => ({})],
  // Any other character that is not a letter or digit is itself.
  [/^[^A-Za-z0-9]/u, ([character]) => ({ code: character.codePointAt(0) ?? 0 })],
]

function hex(digits = ""): number {
  const code = Number.parseInt(digits, 16)
  if (code > 0x10ffff) throw new SyntaxError(`there is no character ${digits}`)
  return code
}
