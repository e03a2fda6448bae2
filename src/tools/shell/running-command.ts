import { once } from "node:events"
import type { Socket } from "node:net"
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises"
import { isGroupAlive, type ProcessGroup } from "../../core/child/end-processes.ts"
import type { CommandOutput } from "./command-output.ts"
import { type ConnectedChild, notStartedError } from "./command-streams.ts"

/** A command that was started, running or not. */
export interface Command {
  readonly id: string
  readonly output: CommandOutput
  /** Rejects when it could not be started; then there is no more to it. */
  readonly started: Promise<void>
  /** How it ended; undefined while it runs. */
  readonly end: CommandEnd | undefined
  /** The same, once it has ended and what it wrote by then is known. Never rejects. */
  readonly ended: Promise<CommandEnd>
  /** Its processes, while there may be any. */
  readonly group: ProcessGroup | undefined
  /** Ends it and whatever it started, or waits for somebody who is about to. */
  stop(why: StopReason, ending?: Promise<unknown>): Promise<void>
  /** Does not keep the program from ending any more. */
  release(): void
}

export type StopReason = "timeout" | "killed" | "aborted" | "closed"

export interface CommandEnd {
  exitCode: number | null
  signal: string | null
  /** Set when it was ended. */
  stopped: StopReason | undefined
  /** Whether something it started goes on, and may write more. */
  goesOn: boolean
}

export interface FollowOptions {
  id: string
  output: CommandOutput
  /** Ends its processes. */
  endAll(): Promise<unknown>
  /** Called when its processes came or went. */
  changed(): void
}

/** Follows a child from its start to its end. */
export function followCommand({ child, output: pipe }: ConnectedChild, options: FollowOptions): Command {
  const { id, output, endAll, changed } = options
  let group: ProcessGroup | undefined = child.pid === undefined ? undefined : { id: child.pid, hasLeader: true }
  let end: CommandEnd | undefined
  let stopped: StopReason | undefined
  let stopping: Promise<void> | undefined
  const reading = readOutput(pipe, output.add)
  const complete = reading.over.then(() => output.end())

  const ended = new Promise<CommandEnd>((resolve) => {
    child.once("exit", async (exitCode, signal) => {
      // What it started may have stayed.
      group = group && isGroupAlive(group.id) ? { ...group, hasLeader: false } : undefined
      changed()
      await reading.whenQuiet()
      if (reading.isOver()) await complete
      else pipe.unref()
      end = { exitCode, signal, stopped, goesOn: !reading.isOver() }
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

  async function stop(why: StopReason, ending?: Promise<unknown>): Promise<void> {
    if (!end) stopped ??= why
    stopping ??= (ending ?? endAll()).then(async () => {
      await reading.whenQuiet()
      // Whoever was not found has nobody to write to.
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
    stop,
    release() {
      child.unref()
      pipe.unref()
    },
  }
}

interface OutputReader {
  isOver(): boolean
  over: Promise<void>
  /** Resolves when all that was written before is read: at the end of the pipe or, where somebody else holds it, when nothing
   *  comes any more or enough time has passed. */
  whenQuiet(): Promise<void>
}

function readOutput(pipe: Socket, take: (chunk: Uint8Array) => Promise<void>): OutputReader {
  let isOver = false
  let isTaking = false
  let count = 0
  async function read(): Promise<void> {
    try {
      for await (const chunk of pipe) {
        isTaking = true
        await take(chunk)
        isTaking = false
        count++
      }
    } catch {
      // It was closed from here.
    }
    isOver = true
  }
  const over = read()

  async function quiet(): Promise<void> {
    for (let waited = 0; waited < maxQuietWaitMs && !isOver; waited += quietPollMs) {
      const before = count
      await delay(quietPollMs)
      // Where the program was busy, what came meanwhile is only read now.
      await nextTurn()
      if (count === before && !isTaking) return
    }
  }

  return { isOver: () => isOver, over, whenQuiet: () => Promise.race([over, quiet()]) }
}

const quietPollMs = 50
const maxQuietWaitMs = 1000
