// Runs a program in a pseudo terminal and connects it to the user's terminal.
import { randomBytes } from "node:crypto"
import { onAbort } from "../../core/abort.ts"
import { commandWithoutDescriptors } from "../../core/child/child-process.ts"
import { createProcessEnder, isGroupAlive, markerVariable } from "../../core/child/end-processes.ts"
import { startWatchdog, type Watchdog } from "../../core/child/watchdog.ts"
import { importOptionalPackage } from "../../core/optional-package.ts"
import { abortError } from "../../core/run.ts"
import type { ProgramOptions } from "../turn/cli-process.ts"
import { createOutputTail } from "../turn/output-tail.ts"
import { trackTerminalModes } from "./terminal-modes.ts"
import { holdTerminal, type UserTerminal } from "./user-terminal.ts"

export interface PtyOptions extends ProgramOptions {
  /** The user's terminal. */
  terminal: UserTerminal
  /** How many of the last bytes shown are returned. */
  maxCaptureBytes: number
  /** Ends the program when it fires. */
  signal?: AbortSignal | undefined
}

export interface PtyEnd {
  /** 128 plus the number of the signal, if one ended it. */
  exitCode: number
  /** What it showed, with all terminal sequences. */
  output: string
  /** The last 8 KiB of the output, independent of `maxCaptureBytes`. */
  endOfOutput: string
}

/** Runs a program in a terminal of the same size as the user's and passes input and output on. Afterwards the user's
 *  terminal is restored and all processes the program started are ended. Rejects with the signal's reason when it
 *  fires. */
export async function runInPty(options: PtyOptions): Promise<PtyEnd> {
  const { program, args, cwd, terminal, signal } = options
  const spawn = await loadSpawn()
  if (signal?.aborted) throw abortError(signal)
  const marker = `KARST_CHILD=${randomBytes(12).toString("hex")}.`
  const modes = trackTerminalModes()
  const captured = createOutputTail(options.maxCaptureBytes)
  const endOfOutput = createOutputTail(endOfOutputBytes)
  const endProcesses = createProcessEnder(graceMs)
  let hasExited = false
  let watchdog: Watchdog | undefined
  let child: Pty | undefined
  let ending: Promise<void> | undefined

  const processTree = () => {
    if (!child) return { marker, groups: [] }
    const { pid: id } = child
    return { marker, groups: !hasExited || isGroupAlive(id) ? [{ id, hasLeader: !hasExited }] : [] }
  }
  const endAll = () => (ending ??= endProcesses(processTree))

  // Ctrl-Z would suspend the program forever, because no shell could resume it.
  const resume = () => child && !hasExited && isGroupAlive(child.pid) && process.kill(-child.pid, "SIGCONT")

  const held = holdTerminal(terminal, {
    onInput(bytes) {
      child?.write(bytes)
      if (suspendKeys.has(bytes.toString("latin1"))) setTimeout(resume, 300).unref()
    },
    onResize: () => hasExited || child?.resize(...terminalSize(terminal)),
    onInterrupt: (done) => void endAll().finally(done),
    restoreSequence: modes.restoreSequence,
  })
  try {
    watchdog = startWatchdog(marker, options.folder)
    const [cols, rows] = terminalSize(terminal)
    const env = ptyEnvironment(options, marker)
    // node-pty passes every descriptor on that is not closed on exec.
    const command = commandWithoutDescriptors(program, args)
    const running = spawn(command.program, command.args, { cols, rows, cwd, env, name: env.TERM, encoding: null })
    child = running
    watchdog.watch([running.pid])
    const exited = new Promise<{ exitCode: number; signal?: number | undefined }>((resolve) => running.onExit(resolve))
    running.onData((chunk) => {
      modes.follow(chunk)
      captured.add(chunk)
      endOfOutput.add(chunk)
      if (terminal.output.write(chunk)) return
      running.pause()
      terminal.output.once("drain", () => running.resume())
    })
    const stopListening = signal && onAbort(signal, () => void endAll())
    const end = await exited
    stopListening?.()
    hasExited = true
    // Ends processes that it left running.
    await endAll()
    if (signal?.aborted) throw abortError(signal)
    const exitCode = end.signal ? 128 + end.signal : end.exitCode
    return { exitCode, output: captured.text(), endOfOutput: endOfOutput.text() }
  } finally {
    held.release()
    watchdog?.end()
  }
}

// Ctrl-Z, plain and in the extended keyboard protocols.
const suspendKeys = new Set(["\x1a", "\x1b[122;5u", "\x1b[27;5;122~"])
const graceMs = 2000
const endOfOutputBytes = 8 * 1024

/** The part of node-pty's interface that is used. */
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
  // The cast holds: without an encoding node-pty reads and writes bytes, which its types do not say.
  return spawn as Spawn
}

// A window without a size reports 0.
function terminalSize({ output }: UserTerminal): [columns: number, rows: number] {
  return [output.columns || 80, output.rows || 24]
}

function ptyEnvironment({ env }: PtyOptions, marker: string): Record<string, string> & { TERM: string } {
  // The size of the window may change, so these variables are removed.
  const { COLUMNS: _, LINES: __, ...rest } = env
  return { ...rest, ...markerVariable(marker), TERM: env.TERM ?? process.env.TERM ?? "xterm-256color" }
}
