// Wraps streamed text at the line width, with a prefix on each line.
import type { Paint } from "./paint.ts"
import type { Screen } from "./screen.ts"
import { graphemes, graphemeWidth, splitAtWidth, textWidth } from "./text-width.ts"

/** Only appends, so that nothing flickers. The last word is held until it is complete. */
export interface TextFlow {
  add(text: string, paint?: Paint): void
  /** Adds a line that is not wrapped; it may contain styles. */
  addLine(line: string): void
  /** Sets the indent of the lines that the current line is wrapped into. */
  setHangingIndent(columns: number): void
  /** Writes held text and ends the line. Drops empty lines at the end. */
  end(): void
}

export interface TextFlowOptions {
  /** The prefix of the first line and of the others, as plain text. */
  first: string
  rest: string
  paintPrefix?: Paint | undefined
  /** The longest line. Default: the width of the screen. */
  columns?: number | undefined
  /** The indent of wrapped lines. Default 0. */
  hangingIndent?: number | undefined
}

/** Returns the lines that a text is wrapped into. */
export function wrapText(text: string, columns: number): string[] {
  let wrapped = ""
  const write = (piece: string) => {
    wrapped += piece
  }
  const flow = createTextFlow({ columns, write }, { first: "", rest: "" })
  flow.add(text)
  flow.end()
  return wrapped.replace(/\n$/, "").split("\n")
}

export function createTextFlow(screen: Pick<Screen, "columns" | "write">, options: TextFlowOptions): TextFlow {
  const { first, rest, paintPrefix = (text) => text, hangingIndent = 0 } = options
  const limit = () => Math.min(screen.columns, options.columns ?? Number.POSITIVE_INFINITY)
  let started = false
  let open = false
  let column = 0
  let newlines = 0
  let lineIndent = hangingIndent
  let space = ""
  let word: { text: string; paint: Paint | undefined }[] = []
  let wordWidth = 0

  function openLine(): void {
    if (open) return
    if (started) for (let blank = 1; blank < newlines; blank++) screen.write(`${paintPrefix(rest.trimEnd())}\n`)
    const prefix = started ? rest : first
    screen.write(paintPrefix(prefix))
    column = textWidth(prefix)
    started = true
    open = true
    newlines = 0
  }

  function closeLine(): void {
    lineIndent = hangingIndent
    space = ""
    if (open) screen.write("\n")
    if (started) newlines++
    open = false
  }

  function breakLine(): void {
    screen.write(`\n${paintPrefix(rest)}${" ".repeat(lineIndent)}`)
    column = textWidth(rest) + lineIndent
  }

  function put(text: string, paint: Paint | undefined): void {
    if (text === "") return
    openLine()
    const indent = textWidth(rest) + lineIndent
    let remaining = textWidth(text)
    // Do not split a piece that fits on the next line.
    if (column + remaining > limit() && column > indent && indent + remaining <= limit()) breakLine()
    let tail = text
    while (column + remaining > limit()) {
      const pieces = splitAtWidth(tail, limit() - column)
      // Not even one character fits on an empty line, so wrapping cannot help.
      if (pieces.head === "" && column <= indent) break
      screen.write(paint ? paint(pieces.head) : pieces.head)
      tail = pieces.tail
      remaining -= pieces.used
      breakLine()
    }
    screen.write(paint ? paint(tail) : tail)
    column += remaining
  }

  function flushWord(): void {
    if (word.length === 0) return
    openLine()
    if (column + space.length + wordWidth > limit() && column > textWidth(rest) + lineIndent) breakLine()
    else put(space, undefined)
    for (const piece of word) put(piece.text, piece.paint)
    space = ""
    word = []
    wordWidth = 0
  }

  function hold(text: string, paint: Paint | undefined): void {
    word.push({ text, paint })
    wordWidth += textWidth(text)
  }

  function addWords(line: string, paint: Paint | undefined): void {
    for (const part of line.match(/\s+|\S+/g) ?? []) {
      if (/^\s/.test(part)) {
        flushWord()
        space += part
        continue
      }
      for (const piece of breakablePieces(part)) {
        if (isWide(piece)) flushWord()
        hold(piece, paint)
        if (isWide(piece)) flushWord()
      }
    }
  }

  return {
    add(text, paint) {
      text.split("\n").forEach((line, index) => {
        if (index > 0) {
          flushWord()
          closeLine()
        }
        addWords(line, paint)
      })
    },
    addLine(line) {
      flushWord()
      if (open) closeLine()
      openLine()
      screen.write(line)
      closeLine()
    },
    setHangingIndent(columns) {
      lineIndent = columns
    },
    end() {
      flushWord()
      if (open) closeLine()
    },
  }
}

// Wide characters (scripts without spaces) may be wrapped anywhere, other text only at spaces.
function breakablePieces(word: string): string[] {
  const pieces: string[] = []
  for (const grapheme of graphemes(word)) {
    const last = pieces.at(-1)
    if (last === undefined || graphemeWidth(grapheme) === 2 || isWide(last)) pieces.push(grapheme)
    else pieces[pieces.length - 1] = last + grapheme
  }
  return pieces
}

function isWide(piece: string): boolean {
  return piece.length <= 16 && graphemeWidth(piece) === 2
}
