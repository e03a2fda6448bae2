// The screen of the chat: permanent text that scrolls up, and below it an area that is redrawn: the line that is being
// streamed, the status, and the text that the person is writing.
import { createPalette } from "../../display/paint.ts"
import { type Screen, spinnerFrames } from "../../display/screen.ts"
import { textWidth, truncateToWidth } from "../../display/text-width.ts"
import type { EditorLayout } from "./editor-view.ts"

export interface LiveScreen extends Screen {
  readonly rows: number
  /** Sets what is drawn below the status. It is called for each redraw. */
  setInput(layout: (() => EditorLayout) | undefined): void
  redraw(): void
  /** Clears the window and draws the area at its top. */
  clear(): void
  /** Called after the size of the window has changed. */
  resized(): void
}

export interface TerminalOutput {
  readonly columns: number
  readonly rows: number
  write(text: string): unknown
  /** Node's own method that reads the size anew. The terminal wraps its lines before the signal of a change arrives. */
  _refreshSize?(): void
}

export function createLiveScreen(output: TerminalOutput, { color }: { color: boolean }): LiveScreen {
  const paint = createPalette(color)
  /** The streamed line without its end. */
  let openLine = ""
  let lastLines = ""
  let status: (() => string) | undefined
  let input: (() => EditorLayout) | undefined
  let frame = 0
  let unwritten = ""
  let scheduled: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined
  /** The drawn area: the widths of its lines, and the cursor in it. */
  let drawn: { widths: number[]; row: number; column: number } | undefined

  function erase(): string {
    if (!drawn) return ""
    // A narrower window has wrapped lines that were drawn for a wider one.
    const width = Math.max(1, output.columns || 80)
    const rowsOf = (widths: readonly number[]) =>
      widths.reduce((sum, columns) => sum + Math.max(1, Math.ceil(columns / width)), 0)
    const above = rowsOf(drawn.widths.slice(0, drawn.row)) + Math.floor(drawn.column / width)
    const rows = Math.min(rowsOf(drawn.widths), output.rows || 24)
    drawn = undefined
    // Line by line, because some terminals scroll a window that is cleared as a whole.
    return `\r${up(above)}${Array.from({ length: rows }, () => "\x1b[2K").join("\x1b[1B")}${up(rows - 1)}`
  }

  function draw(): string {
    const lines = openLine === "" ? [] : [openLine]
    if (status) {
      const spinner = paint.cyan(spinnerFrames[frame % spinnerFrames.length] ?? "")
      lines.push(`${spinner} ${paint.dim(truncateToWidth(status(), screen.columns - 3))}`)
    }
    const layout = input?.()
    if (!layout) {
      if (lines.length === 0) return ""
      const column = textWidth(unpainted(lines.at(-1) ?? ""))
      drawn = { widths: lines.map((line) => textWidth(unpainted(line))), row: lines.length - 1, column }
      return lines.join("\r\n")
    }
    const row = lines.length + layout.row
    lines.push(...layout.lines)
    drawn = { widths: lines.map((line) => textWidth(unpainted(line))), row, column: layout.column }
    const right = layout.column > 0 ? `\x1b[${layout.column}C` : ""
    return `${lines.join("\r\n")}\r${up(lines.length - 1 - row)}${right}`
  }

  // Changes of one turn of the event loop are drawn together.
  function show(text = ""): void {
    unwritten += text
    scheduled ??= setImmediate(flush)
  }

  function flush(): void {
    clearImmediate(scheduled)
    scheduled = undefined
    // What is erased depends on how the terminal has wrapped it by now.
    output._refreshSize?.()
    const text = unwritten.replaceAll("\n", "\r\n")
    unwritten = ""
    output.write(`${erase()}${text}${draw()}`)
  }

  const screen: LiveScreen = {
    paint,
    get columns() {
      // The last column stays free, because terminals wrap differently when it is filled.
      return Math.max(20, (output.columns || 80) - 1)
    },
    get rows() {
      return Math.max(5, output.rows || 24)
    },
    write(text) {
      if (text === "") return
      const whole = openLine + text
      const end = whole.lastIndexOf("\n") + 1
      openLine = whole.slice(end)
      lastLines = (lastLines + unpainted(text)).slice(-2)
      show(whole.slice(0, end))
    },
    writeLines(...lines) {
      const end = openLine === "" ? "" : "\n"
      screen.write(end + lines.map((line) => `${line}\n`).join(""))
    },
    ensureBlankLine() {
      if (openLine !== "") screen.write("\n")
      if (lastLines !== "" && lastLines !== "\n\n") screen.write("\n")
    },
    setStatus(next) {
      status = next
      clearInterval(timer)
      if (next) {
        timer = setInterval(() => {
          frame++
          show()
        }, 100).unref()
      }
      show()
    },
    setInput(layout) {
      input = layout
      show()
    },
    redraw: () => show(),
    clear() {
      flush()
      drawn = undefined
      output.write("\x1b[2J\x1b[3J\x1b[H")
      flush()
    },
    resized: flush,
    close() {
      status = undefined
      input = undefined
      clearInterval(timer)
      if (openLine !== "") screen.write("\n")
      flush()
    },
  }
  return screen
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : ""
}

/** Removes the styles that this program itself has added. */
function unpainted(text: string): string {
  return text.replace(/\x1b\[\d+m/g, "")
}
