// Takes over the user's terminal and gives it back on every exit of this process except `kill -9`.
import { ConfigError } from "../../core/errors.ts"

export interface UserTerminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

/** Returns the terminal of this process; throws if there is none. */
export function requireTerminal(purpose: string): UserTerminal {
  const { stdin: input, stdout: output } = process
  if (input.isTTY && output.isTTY) return { input, output }
  const missing = input.isTTY ? "standard output" : "standard input"
  throw new ConfigError(
    `${purpose} needs a terminal, and ${missing} is none. Start it in one, or use agent.run(), which needs none.`,
  )
}

export interface TerminalHandlers {
  /** Gets the typed bytes. */
  onInput(bytes: Buffer): void
  /** Called when the size of the window has changed. */
  onResize?: (() => void) | undefined
  /** Called when the terminal is closed, or this process gets a signal to end; `done` lets that happen. */
  onInterrupt(done: () => void): void
  /** Written to the terminal when it is released. */
  restoreSequence(): string
}

/** Takes the terminal: its input goes to `handlers` until `release`. It is also released when this process exits,
 *  throws, or is ended by a signal without other listeners. */
export function holdTerminal({ input, output }: UserTerminal, handlers: TerminalHandlers) {
  if (heldInputs.has(input)) {
    throw new ConfigError("The terminal is in use by another CLI or menu of this program. Wait until that has ended.")
  }
  heldInputs.add(input)
  const wasRaw = input.isRaw
  const wasFlowing = input.readableFlowing === true
  let isHeld = true

  /** Restores the terminal. May be called twice. */
  function release(): void {
    if (!isHeld) return
    isHeld = false
    heldInputs.delete(input)
    process.off("exit", release)
    for (const name of signals) process.off(name, onSignal)
    input.off("data", handlers.onInput)
    input.off("end", onClosed)
    output.off("resize", onResized)
    ignoreErrors(() => output.write(handlers.restoreSequence()))
    ignoreErrors(() => input.setRawMode(wasRaw))
    if (!wasFlowing) input.pause()
    // Errors that come later, such as of a write to a closed window, are ignored.
    setImmediate(() => {
      input.off("error", onClosed)
      output.off("error", onClosed)
    })
  }

  function onSignal(signal: NodeJS.Signals): void {
    // Another listener of the program handles the signal.
    if (process.listenerCount(signal) > 1) return
    handlers.onInterrupt(() => {
      release()
      process.kill(process.pid, signal)
    })
  }

  const onClosed = () => isHeld && handlers.onInterrupt(release)
  const onResized = () => handlers.onResize?.()

  process.on("exit", release)
  for (const name of signals) process.on(name, onSignal)
  input.on("error", onClosed)
  output.on("error", onClosed)
  input.on("end", onClosed)
  output.on("resize", onResized)
  try {
    input.setRawMode(true)
    input.on("data", handlers.onInput)
    input.resume()
  } catch (error) {
    release()
    throw error
  }
  return { release }
}

const heldInputs = new WeakSet<NodeJS.ReadStream>()

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const

function ignoreErrors(work: () => void): void {
  try {
    work()
  } catch {
    // The window was closed; there is nothing to restore.
  }
}
