// Text styles for the terminal, and whether to use colour.
export type Paint = (text: string) => string

/** One function per style. Without colour they return the text unchanged. */
export type Palette = Record<TextStyle, Paint>

export type TextStyle = keyof typeof styleCodes

const styleCodes = {
  plain: undefined,
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

export function createPalette(color: boolean): Palette {
  const paints = Object.entries(styleCodes).map(([style, codes]) => [
    style,
    color && codes ? paintWith(codes) : unpainted,
  ])
  return Object.fromEntries(paints) as Palette
}

/** Decides by FORCE_COLOR, then NO_COLOR, then whether the stream is a terminal. */
export function wantsColor(stream: object, env: NodeJS.ProcessEnv = process.env): boolean {
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: term } = env
  if (force !== undefined && force !== "") return force !== "0" && force !== "false"
  if (no !== undefined && no !== "") return false
  return "isTTY" in stream && stream.isTTY === true && term !== "dumb"
}

function paintWith([on, off]: readonly [number, number]): Paint {
  return (text) => (text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`)
}

function unpainted(text: string): string {
  return text
}
