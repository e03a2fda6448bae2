import type { Socket } from "node:net"
import { constants } from "node:os"
import { createSocketLink, maxHostUnreadBytes } from "../handles/socket-frames.ts"
import type { FrameLink } from "../handles/wire.ts"
import { type ChildLaunchOptions, launchChild } from "./process-launch.ts"
import { watchUsage } from "./process-limits.ts"

/** How a child came to its end. */
export interface PeerEnding {
  kind: "crash" | "memory" | "timeout" | "aborted"
  /** The reason, as a clause that begins with "it"; the child is meant. */
  why: string
}

/** One child process from its start to its end. */
export interface PeerProcess {
  /** Frames to and from the child. */
  readonly link: FrameLink
  /** Undefined as long as it lives. */
  readonly ending: PeerEnding | undefined
  /** Processor time counts from here. */
  startCell(): void
  /** Ends it for certain. The first reason stays. */
  kill(ending: PeerEnding): void
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
}

export interface PeerEvents {
  /** The child wrote to its standard output directly. */
  onStdout(text: string): void
  /** The child has ended, or is about to: no answer will come any more. */
  onEnding(ending: PeerEnding): void
}

export type StartPeer = (options: ChildLaunchOptions, events: PeerEvents) => PeerProcess

export function startPeerProcess(options: ChildLaunchOptions, events: PeerEvents): PeerProcess {
  const { bounds } = options
  const child = launchChild(options)
  let ending: PeerEnding | undefined
  let stderr = ""

  const end = (given: PeerEnding) => {
    if (ending) return
    ending = given
    watchdog?.stop()
    runningKills.delete(kill)
    events.onEnding(given)
  }

  const kill = () => {
    // This process must live to see the end of the child.
    child.ref()
    try {
      // The whole group: processes that the child started end with it.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      child.kill("SIGKILL")
    }
  }

  // The cast is safe: the fourth descriptor of `launch` is a socket.
  const limits = {
    maxBytes: bounds.messageBytes,
    maxSent: Number.POSITIVE_INFINITY,
    maxDepth: maxJsonDepth,
    maxUnread: maxHostUnreadBytes,
  }
  const socket = createSocketLink(child.stdio[3] as Socket, limits)

  const watchdog =
    child.pid === undefined
      ? undefined
      : watchUsage(child.pid, bounds, (kind, why) => {
          end({ kind, why })
          kill()
        })

  child.stdout?.setEncoding("utf8").on("data", (text: string) => events.onStdout(text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-maxStderr)
  })
  child.unref()
  for (const stream of [child.stdout, child.stderr]) {
    // A broken pipe means that the child has ended, which `close` reports.
    stream?.on("error", () => {})
    // The cast is safe: pipes of a child are sockets.
    ;(stream as Socket | null)?.unref()
  }

  const gone = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      end({ kind: "crash", why: `it could not be started: ${error.message}` })
      resolve()
    })
    child.on("exit", () => {
      // A process that it started may hold its output open, and is not waited for.
      const patience = setTimeout(() => [child.stdout, child.stderr, child.stdio[3]].map((end) => end?.destroy()), 200)
      child.on("close", () => clearTimeout(patience))
    })
    // `close` comes when all its output has been read.
    child.on("close", (code, signal) => {
      end(endingFromExit(code, signal, stderr))
      socket.close()
      resolve()
    })
  })
  killAtExit(kill)

  return {
    link: {
      send(frame) {
        if (!ending) socket.send(frame)
      },
      listen(handlers) {
        socket.listen({
          onFrame: handlers.onFrame,
          onEnd(problem) {
            // Until now the socket kept this process alive.
            child.ref()
            handlers.onEnd(problem)
          },
        })
        socket.send({ message: { k: "limit", maxBytes: bounds.messageBytes }, buffers: [], special: false })
      },
      keepProcessAlive(alive) {
        socket.keepProcessAlive(alive)
        watchdog?.setBusy(alive)
      },
      close: () => socket.close(),
    },
    get ending() {
      return ending
    },
    gone,
    startCell: () => watchdog?.startCell(),
    kill(given) {
      end(given)
      kill()
    },
  }
}

// Three levels of JSON for each of a value's: a Map in a Map is an array in an array in a tagged object.
const maxJsonDepth = 4_000

/** Functions that end the running children. */
const runningKills = new Set<() => void>()
let watchesExit = false

function killAtExit(kill: () => void): void {
  runningKills.add(kill)
  if (watchesExit) return
  watchesExit = true
  process.on("exit", () => {
    for (const end of runningKills) end()
  })
}

const maxStderr = 8_000

function endingFromExit(code: number | null, signal: NodeJS.Signals | null, stderr: string): PeerEnding {
  if (/heap out of memory|Allocation failed|OOM error|Zone Allocation/i.test(stderr)) {
    return { kind: "memory", why: "it ran out of heap memory" }
  }
  // A shell and bubblewrap report a signal by a number above 128.
  const ended = signal ?? signalNames.get((code ?? 0) - 128)
  // What Node and the system write to stderr after a signal does not explain it.
  if (ended !== undefined) return { kind: "crash", why: `it was ended by ${ended}` }
  const lines = stderr.trim().split("\n")
  // Below an uncaught error Node writes its stack and its own version.
  const reason = (lines.findLast((line) => /^\w*Error\b.*: /.test(line)) ?? lines.at(-1))?.slice(0, 300)
  return { kind: "crash", why: `it exited with code ${code}${reason ? ` (${reason})` : ""}` }
}

// Some signals have a second name, which comes later and is less known.
const signalNames = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
)
