// Writes text and one animated status line to a terminal, or only the text to a file.
import { createPalette, type Palette } from "./paint.ts"
import { truncateToWidth } from "./text-width.ts"

/** Written text is permanent. The status is one line below it that is redrawn, on terminals only. */
export interface Screen {
  readonly paint: Palette
  /** The width of a line; Infinity if the output is not a terminal. */
  readonly columns: number
  /** Appends text, which must be free of control sequences. */
  write(text: string): void
  /** Ends the current line, if it is not empty, and writes whole lines. */
  writeLines(...lines: string[]): void
  /** Leaves exactly one empty line before the next text; none at the top. */
  ensureBlankLine(): void
  /** Sets the status label, which is computed again for each spinner frame; undefined removes the status. */
  setStatus(label: (() => string) | undefined): void
  /** Removes the status and shows the cursor. May be called twice. */
  close(): void
}

export const spinnerFrames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const hideCursor = "\x1b[?25l"
const showCursor = "\x1b[?25h"
const clearLine = "\r\x1b[K"

export function createScreen(stream: NodeJS.WritableStream, { color }: { color: boolean }): Screen {
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
      // The last column stays free, because terminals wrap differently when it is filled.
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

// Shows the cursor again when a signal ends the process. `restore` removes these listeners, so if there is no other
// listener, the signal is sent again and has its default effect.
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
