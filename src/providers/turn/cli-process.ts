// Runs a coding CLI as a child process: passes its output on line by line, applies time-outs, and ends everything it
// started.
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import { onAbort } from "../../core/abort.ts"
import { hasEnded, waitForExit } from "../../core/child/child-end.ts"
import { spawn } from "../../core/child/child-process.ts"
import { createProcessEnder, isGroupAlive, markerVariable, type ProcessGroup } from "../../core/child/end-processes.ts"
import { waitUntilQuiet } from "../../core/child/wait-until-quiet.ts"
import { startWatchdog } from "../../core/child/watchdog.ts"
import { stripTerminalSequences } from "../../core/text/terminal-text.ts"
import { createOutputTail } from "./output-tail.ts"
import { createTurnTimeouts } from "./turn-timeouts.ts"

export interface ProgramOptions {
  program: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** The process's private folder; the watchdog removes it if this program is killed. */
  folder: string
}

export interface CliProcessOptions extends ProgramOptions {
  /** Ends the process when it fires. */
  signal: AbortSignal
  timeoutMs?: number | undefined
  /** Does not count while the process is busy. */
  idleTimeoutMs?: number | undefined
  /** How long it may take to exit after it was asked to. Default 2 s. */
  graceMs?: number | undefined
  /** Gets each line of its output, without the line end. */
  onLine(text: string): void
  /** Gets each line of its standard error; returns true if the line belongs into `stderr`. Default: all do. */
  filterLogLine?: ((text: string) => boolean) | undefined
}

/** A program in its own process group. However it ends, and even if this program is killed, its group is ended too; on
 *  Linux also processes that left the group. */
export interface CliProcess {
  /** Writes to its standard input; does nothing if the input is closed. */
  write(text: string): void
  endInput(): void
  /** Sets whether it does work that may take long without output. */
  setBusy(is: boolean): void
  /** Closes its input and ends it if it does not exit by itself within `graceMs`. */
  finish(): void
  /** Ends it: SIGTERM first, SIGKILL after `graceMs`. */
  stop(why: StopCause): void
  /** Why `stop` was called, if it was. */
  readonly stopped: StopCause | undefined
  /** Resolves when it and all processes it started are gone. Never rejects. */
  readonly ended: Promise<CliProcessEnd>
}

export type StopCause = "abort" | "timeout" | "idle" | "unreadable"

export interface CliProcessEnd {
  exitCode: number | null
  signal: string | null
  /** Why it was stopped, if it was. */
  stopped: StopCause | undefined
  /** Set if it could not be started. */
  error: Error | undefined
  /** The end of its standard error, without colours. */
  stderr: string
}

export function startCliProcess(options: CliProcessOptions): CliProcess {
  const { folder, graceMs = 2000, signal } = options
  const marker = `KARST_CHILD=${randomBytes(12).toString("hex")}.`
  const endProcesses = createProcessEnder(graceMs)
  const watchdog = startWatchdog(marker, folder)
  let child: ChildProcessWithoutNullStreams
  try {
    child = spawnInGroup(options, marker)
  } catch (error) {
    watchdog.end()
    return unstartedProcess(error instanceof Error ? error : new Error(String(error)))
  }
  const stderr = createOutputTail(64 * 1024)
  const own: ProcessGroup | undefined = child.pid === undefined ? undefined : { id: child.pid, hasLeader: true }
  if (own) watchdog.watch([own.id])
  let stopped: StopCause | undefined
  let stopping: Promise<void> | undefined
  let error: Error | undefined
  let chunks = 0

  const processTree = () => {
    if (!own) return { marker, groups: [] }
    const led = !hasEnded(child)
    return { marker, groups: led || isGroupAlive(own.id) ? [{ id: own.id, hasLeader: led }] : [] }
  }
  const endAll = () => (stopping ??= endProcesses(processTree))

  function stop(why: StopCause): void {
    stopped ??= why
    void endAll()
  }

  const timeouts = createTurnTimeouts(options, stop)
  const stopListening = onAbort(signal, () => stop("abort"))
  child.on("error", (cause) => {
    error = cause
  })
  child.stdin.on("error", () => undefined)
  const { filterLogLine } = options
  if (!filterLogLine) child.stderr.on("data", stderr.add)
  else {
    const take = (text: string) => void (filterLogLine(text) && stderr.add(Buffer.from(`${text}\n`)))
    const logs = splitLines(take, () => undefined)
    child.stderr.on("data", logs.add)
    child.stderr.on("end", logs.end)
  }
  const lines = splitLines(options.onLine, () => stop("unreadable"))
  child.stdout.on("data", (chunk: Buffer) => {
    chunks++
    timeouts.resetIdleTimer()
    lines.add(chunk)
  })
  child.stdout.on("end", lines.end)

  const closed = once(child, "close").catch(() => undefined)

  async function end(): Promise<CliProcessEnd> {
    await waitForExit(child)
    timeouts.stop()
    stopListening()
    // Its children may keep the pipes open, so wait for the end of the output only until nothing more comes.
    await Promise.race([closed, waitUntilQuiet({ progress: () => chunks, quietMs: 100, maxMs: 2000 })])
    await endAll()
    child.stdout.destroy()
    child.stderr.destroy()
    watchdog.end()
    const { exitCode, signalCode } = child
    return { exitCode, signal: signalCode, stopped, error, stderr: stripTerminalSequences(stderr.text()) }
  }

  return {
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    endInput: () => void child.stdin.end(),
    setBusy: timeouts.setBusy,
    finish() {
      timeouts.setBusy(true)
      child.stdin.end()
      void Promise.race([waitForExit(child), delay(graceMs, undefined, { ref: false })]).then(endAll)
    },
    stop,
    get stopped() {
      return stopped
    },
    ended: end(),
  }
}

function spawnInGroup({ program, args, cwd, env }: CliProcessOptions, marker: string): ChildProcessWithoutNullStreams {
  // `detached` creates a process group and session, so that everything it starts can be ended with it.
  return spawn(program, args, { cwd, env: { ...env, ...markerVariable(marker) }, detached: true, stdio: "pipe" })
}

// `spawn` throws if arguments are too long or not valid strings.
function unstartedProcess(error: Error): CliProcess {
  const nothing = () => undefined
  const end: CliProcessEnd = { exitCode: null, signal: null, stopped: undefined, error, stderr: "" }
  return {
    write: nothing,
    endInput: nothing,
    setBusy: nothing,
    finish: nothing,
    stop: nothing,
    stopped: undefined,
    ended: Promise.resolve(end),
  }
}

// Limits the memory that a line without an end can take.
const maxLineBytes = 128 * 1024 * 1024

function splitLines(take: (line: string) => void, tooLong: () => void): { add(chunk: Buffer): void; end(): void } {
  let pieces: Buffer[] = []
  let size = 0
  function flush(): void {
    const line = Buffer.concat(pieces).toString("utf8")
    pieces = []
    size = 0
    take(line.endsWith("\r") ? line.slice(0, -1) : line)
  }
  return {
    add(chunk) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        pieces.push(chunk.subarray(start, end))
        flush()
        start = end + 1
      }
      if (start === chunk.length) return
      pieces.push(chunk.subarray(start))
      size += chunk.length - start
      if (size <= maxLineBytes) return
      pieces = []
      size = 0
      tooLong()
    },
    end() {
      if (size > 0) flush()
    },
  }
}
