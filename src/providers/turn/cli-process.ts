import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises"
import { onAbort } from "../../core/abort.ts"
import { spawn } from "../../core/child/child-process.ts"
import { createProcessEnder, isGroupAlive, type ProcessGroup } from "../../core/child/end-processes.ts"
import { stripTerminalSequences } from "../../core/text/terminal-text.ts"
import { startWatchdog } from "../../tools/shell/watchdog.ts"
import { createOutputTail } from "./output-tail.ts"

export interface CliProcessOptions {
  program: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** A private folder of the child's; it is removed should this program be killed. */
  folder: string
  /** Ends the child once it fires. */
  signal: AbortSignal
  timeoutMs?: number | undefined
  /** The clock of this one stands still while the child is `busy`. */
  idleTimeoutMs?: number | undefined
  /** How long it has to end by itself when it is asked to. Default 2 s. */
  graceMs?: number | undefined
  /** Takes each line of its output, without the line end. */
  onLine(text: string): void
  /** Takes each line of its standard error, and says whether that belongs to what is kept of it. Default: it does. */
  filterLogLine?: ((text: string) => boolean) | undefined
}

/** A program that runs for us, in a process group of its own. However it ends, and however we do, nothing that it started
 *  stays: on Linux also what left its group, elsewhere the group. */
export interface CliProcess {
  /** Writes to its standard input; what it no longer reads is dropped. */
  write(text: string): void
  endInput(): void
  /** Whether it does something that may take long without a word. */
  setBusy(is: boolean): void
  /** Its work is done: it has a little time to end by itself, and is ended then. */
  finish(): void
  /** Ends it at once: asked first, then made to. */
  stop(why: StopCause): void
  /** Why it was stopped, if it was. */
  readonly stopped: StopCause | undefined
  /** Resolves when it and all that it started are gone. Never rejects. */
  readonly ended: Promise<CliProcessEnd>
}

export type StopCause = "abort" | "timeout" | "idle" | "unreadable"

export interface CliProcessEnd {
  exitCode: number | null
  signal: string | null
  /** Why it was stopped, if it was. */
  stopped: StopCause | undefined
  /** Why it could not be started. */
  error: Error | undefined
  /** The end of what it wrote to its standard error, without colours. */
  stderr: string
}

export function startCliProcess(options: CliProcessOptions): CliProcess {
  const { folder, graceMs = 2000, timeoutMs, idleTimeoutMs, signal } = options
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
  let idle: NodeJS.Timeout | undefined
  let isBusy = false
  let chunks = 0

  const kin = () => {
    if (!own) return { marker, groups: [] }
    const led = child.exitCode === null && child.signalCode === null
    return { marker, groups: led || isGroupAlive(own.id) ? [{ id: own.id, hasLeader: led }] : [] }
  }
  const endAll = () => (stopping ??= endProcesses(kin))

  function stop(why: StopCause): void {
    stopped ??= why
    void endAll()
  }

  function stir(): void {
    clearTimeout(idle)
    if (idleTimeoutMs !== undefined && !isBusy) idle = setTimeout(() => stop("idle"), idleTimeoutMs)
  }

  const total =
    timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), Math.min(timeoutMs, 2 ** 31 - 1))
  const off = onAbort(signal, () => stop("abort"))
  stir()
  child.on("error", (cause) => {
    error = cause
  })
  child.stdin.on("error", () => undefined)
  const { filterLogLine: logLine } = options
  if (!logLine) child.stderr.on("data", stderr.add)
  else {
    const take = (text: string) => void (logLine(text) && stderr.add(Buffer.from(`${text}\n`)))
    const logs = splitLines(take, () => undefined)
    child.stderr.on("data", logs.add)
    child.stderr.on("end", logs.end)
  }
  const lines = splitLines(options.onLine, () => stop("unreadable"))
  child.stdout.on("data", (chunk: Buffer) => {
    chunks++
    stir()
    lines.add(chunk)
  })
  child.stdout.on("end", lines.end)

  const closed = once(child, "close").catch(() => undefined)
  // Until nothing comes any more, or long enough.
  async function quiet(): Promise<void> {
    for (let waited = 0; waited < maxQuietMs; waited += quietMs) {
      const before = chunks
      await delay(quietMs)
      // Where the program was busy, what came meanwhile is only read now.
      await nextTurn()
      if (chunks === before) return
    }
  }

  async function end(): Promise<CliProcessEnd> {
    await waitForExit(child)
    clearTimeout(total)
    clearTimeout(idle)
    off()
    // What it started may hold its pipes and is none of its output; what it wrote itself is read first.
    await Promise.race([closed, quiet()])
    await endAll()
    child.stdout.destroy()
    child.stderr.destroy()
    watchdog.end()
    const words = stripTerminalSequences(stderr.text())
    return { exitCode: child.exitCode, signal: child.signalCode, stopped, error, stderr: words }
  }

  return {
    write: (text) => void (child.stdin.writable && child.stdin.write(text)),
    endInput: () => void child.stdin.end(),
    setBusy(is) {
      isBusy = is
      stir()
    },
    finish() {
      clearTimeout(idle)
      isBusy = true
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

const quietMs = 100
const maxQuietMs = 2000

function spawnInGroup({ program, args, cwd, env }: CliProcessOptions, marker: string): ChildProcessWithoutNullStreams {
  const [name = "", value = ""] = marker.split("=")
  // Its own group and session, so that whatever it started ends with it.
  return spawn(program, args, { cwd, env: { ...env, [name]: value }, detached: true, stdio: "pipe" })
}

// Arguments that are too long, or no texts, are told by a throw.
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

// Also where it never began.
async function waitForExit(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", () => child.pid === undefined && resolve())
  })
}

// A line that never ends would fill the memory.
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
