import { createPalette, type Palette } from "./paint.ts"
import { truncateToWidth } from "./text-width.ts"

/** A terminal, or a file that gets the same lines without the games. Written text stays for ever; the status is one
 *  line below it that is drawn over, and only where there is a terminal. */
export interface Screen {
  readonly paint: Palette
  /** Room in a line; Infinity where nothing needs breaking. */
  readonly columns: number
  /** Appends. The text must be safe already. */
  write(text: string): void
  /** Ends the open line, if there is one, then writes whole lines. */
  writeLines(...lines: string[]): void
  /** Exactly one empty line before what comes next; none at the very top. */
  ensureBlankLine(): void
  /** What is going on, asked for again at each turn of the spinner; undefined takes it away. */
  setStatus(label: (() => string) | undefined): void
  /** Takes the status away and shows the cursor. Twice is fine. */
  close(): void
}

export interface ScreenOptions {
  color: boolean
}

const spinnerFrames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const hideCursor = "\x1b[?25l"
const showCursor = "\x1b[?25h"
const clearLine = "\r\x1b[K"

export function createScreen(stream: NodeJS.WritableStream, { color }: ScreenOptions): Screen {
  const terminal = stream as NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  const animated = terminal.isTTY === true && color
  const paint = createPalette(color)
  let atLineStart = true
  let lastLines = ""
  let label: (() => string) | undefined
  let drawn = false
  let frame = 0
  let timer: NodeJS.Timeout | undefined
  let stopGuarding: (() => void) | undefined

  function restore(): void {
    const text = (drawn ? clearLine : "") + (stopGuarding ? showCursor : "")
    stopGuarding?.()
    stopGuarding = undefined
    drawn = false
    if (text) stream.write(text)
  }

  function draw(): void {
    if (!label || !atLineStart) return
    const spinner = paint.cyan(spinnerFrames[frame++ % spinnerFrames.length] ?? "")
    const cursor = stopGuarding ? "" : hideCursor
    stopGuarding ??= restoreOnExit(restore)
    drawn = true
    stream.write(`${cursor}${clearLine}${spinner} ${paint.dim(truncateToWidth(label(), screen.columns - 3))}`)
  }

  const screen: Screen = {
    paint,
    get columns() {
      // The last column stays free: terminals differ in what they do when it is filled.
      return terminal.isTTY ? Math.max(20, (terminal.columns || 80) - 1) : Number.POSITIVE_INFINITY
    },
    write(text) {
      if (text === "") return
      stream.write((drawn ? clearLine : "") + text)
      drawn = false
      atLineStart = text.endsWith("\n")
      lastLines = (lastLines + text).slice(-2)
    },
    writeLines(...lines) {
      const end = atLineStart ? "" : "\n"
      screen.write(end + lines.map((line) => `${line}\n`).join(""))
    },
    ensureBlankLine() {
      if (!atLineStart) screen.write("\n")
      if (lastLines !== "" && lastLines !== "\n\n") screen.write("\n")
    },
    setStatus(next) {
      label = next
      clearInterval(timer)
      if (!next) return restore()
      if (!animated) return
      timer = setInterval(draw, 80).unref()
      draw()
    },
    close: () => screen.setStatus(undefined),
  }
  return screen
}

// A process that is told to leave must not take the cursor with it. `restore` ends the guard, so where nobody else
// handles the signal it then does what it would have done without us.
function restoreOnExit(restore: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  function leave(signal: NodeJS.Signals): void {
    restore()
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
  }
  function stop(): void {
    process.off("exit", restore)
    for (const signal of signals) process.off(signal, leave)
  }
  process.on("exit", restore)
  for (const signal of signals) process.on(signal, leave)
  return stop
}
