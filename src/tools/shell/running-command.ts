// Follows a shell command from its start to its end.
import { once } from "node:events"
import type { Socket } from "node:net"
import { isGroupAlive, type ProcessGroup } from "../../core/child/end-processes.ts"
import { waitUntilQuiet } from "../../core/child/wait-until-quiet.ts"
import type { CommandOutput } from "./command-output.ts"
import { type ConnectedCommand, notStartedError } from "./command-streams.ts"

/** A command that was started, running or ended. */
export interface Command {
  readonly id: string
  readonly output: CommandOutput
  /** Rejects if the command could not be started. */
  readonly started: Promise<void>
  /** How it ended; undefined while it runs. */
  readonly end: CommandEnd | undefined
  /** Resolves when the command has ended and its output so far has been read. Never rejects. */
  readonly ended: Promise<CommandEnd>
  /** Its process group, while it may have processes. */
  readonly group: ProcessGroup | undefined
  /** The time since its start. */
  runningMs(): number
  /** Ends the command and everything it started, or waits for `ending` if someone else is doing that. */
  stop(why: CommandStopReason, ending?: Promise<unknown>): Promise<void>
  /** Lets this process exit while the command is running. */
  release(): void
}

export type CommandStopReason = "timeout" | "killed" | "aborted" | "closed"

export interface CommandEnd {
  exitCode: number | null
  signal: string | null
  /** Set if it was stopped by us. */
  stopped: CommandStopReason | undefined
  /** True if processes that it started are still running and may write more. */
  goesOn: boolean
  durationMs: number
}

export interface FollowOptions {
  id: string
  output: CommandOutput
  /** Ends its processes. */
  endAll(): Promise<unknown>
  /** Called when its process group changed. */
  changed(): void
}

export function followCommand({ child, output: pipe }: ConnectedCommand, options: FollowOptions): Command {
  const { id, output, endAll, changed } = options
  let group: ProcessGroup | undefined = child.pid === undefined ? undefined : { id: child.pid, hasLeader: true }
  let end: CommandEnd | undefined
  let stopped: CommandStopReason | undefined
  let stopping: Promise<void> | undefined
  const startedAt = performance.now()
  const runningMs = () => Math.round(performance.now() - startedAt)
  const reading = readOutput(pipe, output.add)
  const complete = reading.finished.then(() => output.end())

  const ended = new Promise<CommandEnd>((resolve) => {
    child.once("exit", async (exitCode, signal) => {
      const durationMs = runningMs()
      // Processes that it started may still be running.
      group = group && isGroupAlive(group.id) ? { ...group, hasLeader: false } : undefined
      changed()
      await reading.whenQuiet()
      if (reading.isOver()) await complete
      else pipe.unref()
      end = { exitCode, signal, stopped, goesOn: !reading.isOver(), durationMs }
      resolve(end)
    })
  })

  const started = once(child, "spawn").then(
    () => undefined,
    (error) => {
      pipe.destroy()
      throw notStartedError(error)
    },
  )

  async function stop(why: CommandStopReason, ending?: Promise<unknown>): Promise<void> {
    if (!end) stopped ??= why
    stopping ??= (ending ?? endAll()).then(async () => {
      await reading.whenQuiet()
      // Processes that were not found can no longer write.
      pipe.destroy()
    })
    await stopping
  }

  return {
    id,
    output,
    started,
    ended,
    get end() {
      return end
    },
    get group() {
      return group
    },
    runningMs,
    stop,
    release() {
      child.unref()
      pipe.unref()
    },
  }
}

interface OutputReader {
  isOver(): boolean
  finished: Promise<void>
  /** Resolves when all earlier output has been read: at the end of the pipe or, if another process holds the pipe
   *  open, when nothing arrives any more or enough time has passed. */
  whenQuiet(): Promise<void>
}

function readOutput(pipe: Socket, store: (chunk: Uint8Array) => Promise<void>): OutputReader {
  let isOver = false
  let isStoring = false
  let count = 0
  async function read(): Promise<void> {
    try {
      for await (const chunk of pipe) {
        isStoring = true
        await store(chunk)
        isStoring = false
        count++
      }
    } catch {
      // We closed the pipe.
    }
    isOver = true
  }
  const finished = read()

  const untilQuiet = () =>
    waitUntilQuiet({ progress: () => count, quietMs: 50, maxMs: 1000, isBusy: () => isStoring && !isOver })

  return { isOver: () => isOver, finished, whenQuiet: () => Promise.race([finished, untilQuiet()]) }
}
