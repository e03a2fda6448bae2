import { randomBytes } from "node:crypto"
import { onAbort } from "../../core/abort.ts"
import { commandWithoutDescriptors } from "../../core/child/child-process.ts"
import { createProcessEnder, isGroupAlive } from "../../core/child/end-processes.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { abortError } from "../../core/run.ts"
import { startWatchdog, type Watchdog } from "../../tools/shell/watchdog.ts"
import { createOutputTail } from "../turn/output-tail.ts"
import { trackTerminalModes } from "./terminal-modes.ts"
import { holdTerminal, type UserTerminal } from "./user-terminal.ts"

export interface PtyOptions {
  program: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** A private folder of the program's; it is removed should this one be killed. */
  folder: string
  /** Where it shows itself, and who types. */
  terminal: UserTerminal
  /** How much of what it shows is kept: the last of it. */
  captureBytes: number
  /** Ends the program once it fires. */
  signal?: AbortSignal | undefined
}

export interface PtyEnd {
  /** 128 and the number of the signal, where one ended it. */
  exitCode: number
  /** What it showed, with everything that moves the cursor and paints. */
  output: string
  /** The last of it, whatever `captureBytes` is. */
  endOfOutput: string
}

/** Runs a program in a terminal of its own, of the size of the user's, and passes on what is typed and shown. When it is over the
 *  user's terminal is as it was and nothing that the program started is left. Rejects with the reason of the signal once that
 *  fires. */
export async function runInPty(options: PtyOptions): Promise<PtyEnd> {
  const { program, args, cwd, terminal, signal } = options
  const spawn = await loadSpawn()
  if (signal?.aborted) throw abortError(signal)
  const marker = `KARST_CHILD=${randomBytes(12).toString("hex")}.`
  const modes = trackTerminalModes()
  const captured = createOutputTail(options.captureBytes)
  const farewell = createOutputTail(endOfOutputBytes)
  const endProcesses = createProcessEnder(graceMs)
  let isOver = false
  let watchdog: Watchdog | undefined
  let child: Pty | undefined
  let ending: Promise<void> | undefined

  const kin = () => {
    if (!child) return { marker, groups: [] }
    const { pid: id } = child
    return { marker, groups: !isOver || isGroupAlive(id) ? [{ id, hasLeader: !isOver }] : [] }
  }
  const endAll = () => (ending ??= endProcesses(kin))

  // There is no shell below it that would let it go on after Ctrl-Z.
  const wake = () => child && !isOver && isGroupAlive(child.pid) && process.kill(-child.pid, "SIGCONT")

  const held = holdTerminal(terminal, {
    onInput(bytes) {
      child?.write(bytes)
      if (suspendKeys.has(bytes.toString("latin1"))) setTimeout(wake, 300).unref()
    },
    onResize: () => isOver || child?.resize(...terminalSize(terminal)),
    onInterrupt: (done) => void endAll().finally(done),
    restoreSequence: modes.restoreSequence,
  })
  try {
    watchdog = startWatchdog(marker, options.folder)
    const [cols, rows] = terminalSize(terminal)
    const env = ptyEnvironment(options, marker)
    // The package hands on every descriptor that is not closed on exec.
    const command = commandWithoutDescriptors(program, args)
    const running = spawn(command.program, command.args, { cols, rows, cwd, env, name: env.TERM, encoding: null })
    child = running
    watchdog.watch([running.pid])
    const exited = new Promise<{ exitCode: number; signal?: number | undefined }>((resolve) => running.onExit(resolve))
    running.onData((chunk) => {
      modes.follow(chunk)
      captured.add(chunk)
      farewell.add(chunk)
      if (terminal.output.write(chunk)) return
      running.pause()
      terminal.output.once("drain", () => running.resume())
    })
    const off = signal && onAbort(signal, () => void endAll())
    const end = await exited
    off?.()
    isOver = true
    // What it left running holds neither the terminal nor us.
    await endAll()
    if (signal?.aborted) throw abortError(signal)
    const exitCode = end.signal ? 128 + end.signal : end.exitCode
    return { exitCode, output: captured.text(), endOfOutput: farewell.text() }
  } finally {
    held.release()
    watchdog?.end()
  }
}

// Ctrl-Z, and the same as keyboards with more to say write it.
const suspendKeys = new Set(["\x1a", "\x1b[122;5u", "\x1b[27;5;122~"])
const graceMs = 2000
const endOfOutputBytes = 8 * 1024

/** What is used of the package. */
interface Pty {
  readonly pid: number
  onData(listener: (chunk: Buffer) => void): unknown
  onExit(listener: (end: { exitCode: number; signal?: number | undefined }) => void): unknown
  write(bytes: Buffer): void
  resize(columns: number, rows: number): void
  pause(): void
  resume(): void
}

type Spawn = (
  program: string,
  args: string[],
  options: { cols: number; rows: number; cwd: string; env: Record<string, string>; name: string; encoding: null },
) => Pty

async function loadSpawn(): Promise<Spawn> {
  const { spawn } = await importOptionalPackage("node-pty", "running a CLI in a terminal")
  // As its documentation has it: without an encoding it gives and takes bytes.
  return spawn as Spawn
}

// A window that has no size yet says 0.
function terminalSize({ output }: UserTerminal): [columns: number, rows: number] {
  return [output.columns || 80, output.rows || 24]
}

function ptyEnvironment({ env }: PtyOptions, marker: string): Record<string, string> & { TERM: string } {
  const [name = "", value = ""] = marker.split("=")
  // The size is the window's, which may change.
  const { COLUMNS: _, LINES: __, ...kept } = env
  return { ...kept, [name]: value, TERM: env.TERM ?? process.env.TERM ?? "xterm-256color" }
}
