import { ConfigError } from "../../core/errors.ts"

/** The terminal of the user. */
export interface UserTerminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
}

/** That of this process, or an error where it has none. */
export function requireTerminal(purpose: string): UserTerminal {
  const { stdin: input, stdout: output } = process
  if (input.isTTY && output.isTTY) return { input, output }
  const missing = input.isTTY ? "standard output" : "standard input"
  throw new ConfigError(
    `${purpose} needs a terminal, and ${missing} is none. Start it in one, or use agent.run(), which needs none.`,
  )
}

/** A terminal whose keys all go to one listener, until it is given back. */
export interface HeldTerminal {
  /** Gives it back as it was. Twice is fine. */
  release(): void
}

export interface TerminalHandlers {
  /** Takes what is typed, byte for byte. */
  onInput(bytes: Buffer): void
  /** Called when the window has another size. */
  onResize?: (() => void) | undefined
  /** Called when the terminal is gone, or this process is told to end; it ends as it would have when `done` is called. */
  onInterrupt(done: () => void): void
  /** What is written when it is given back. */
  restoreSequence(): string
}

/** Takes the terminal. It is given back on every way out of this process but `kill -9`: also when it exits by itself, throws, or
 *  is told to end by a signal that nobody else listens for. */
export function holdTerminal({ input, output }: UserTerminal, holding: TerminalHandlers): HeldTerminal {
  if (heldInputs.has(input)) {
    throw new ConfigError("The terminal is in use by another CLI or menu of this program. Wait until that has ended.")
  }
  heldInputs.add(input)
  const wasRaw = input.isRaw
  const wasFlowing = input.readableFlowing === true
  let isHeld = true

  function release(): void {
    if (!isHeld) return
    isHeld = false
    heldInputs.delete(input)
    process.off("exit", release)
    for (const name of signals) process.off(name, told)
    input.off("data", holding.onInput)
    input.off("end", gone)
    output.off("resize", resized)
    ignoreErrors(() => output.write(holding.restoreSequence()))
    ignoreErrors(() => input.setRawMode(wasRaw))
    if (!wasFlowing) input.pause()
    // What fails later, such as a write to a window that was closed, has nobody to tell it to.
    setImmediate(() => {
      input.off("error", gone)
      output.off("error", gone)
    })
  }

  function told(signal: NodeJS.Signals): void {
    // Whoever else listens decides what becomes of it.
    if (process.listenerCount(signal) > 1) return
    holding.onInterrupt(() => {
      release()
      process.kill(process.pid, signal)
    })
  }

  const gone = () => isHeld && holding.onInterrupt(release)
  const resized = () => holding.onResize?.()

  process.on("exit", release)
  for (const name of signals) process.on(name, told)
  input.on("error", gone)
  output.on("error", gone)
  input.on("end", gone)
  output.on("resize", resized)
  try {
    input.setRawMode(true)
    input.on("data", holding.onInput)
    input.resume()
  } catch (error) {
    release()
    throw error
  }
  return { release }
}

const heldInputs = new WeakSet<NodeJS.ReadStream>()

const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const

// A window that was closed takes nothing any more.
function ignoreErrors(work: () => void): void {
  try {
    work()
  } catch {
    // There is nothing left to put back.
  }
}
