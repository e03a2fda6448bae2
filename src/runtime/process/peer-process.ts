// One child process from its start to its end: its frame link, its resource limits and why it ended.
import type { Socket } from "node:net"
import { constants } from "node:os"
import { killGroup, onProgramExit } from "../../core/child/child-end.ts"
import { createSocketLink, maxHostUnreadBytes } from "../handles/socket-frames.ts"
import type { FrameLink } from "../handles/wire.ts"
import { type ChildLaunchOptions, launchChild } from "./process-launch.ts"
import { watchUsage } from "./process-limits.ts"

export interface PeerEnding {
  kind: "crash" | "memory" | "timeout" | "aborted"
  /** The reason, as a clause that begins with "it" (the child). */
  why: string
}

export interface PeerProcess {
  /** Frames to and from the child. */
  readonly link: FrameLink
  /** Undefined while the child is running. */
  readonly ending: PeerEnding | undefined
  /** Restarts the measurement of processor time for `limits.cpuMs`. */
  startCell(): void
  /** Asks the child to stop an execution, also if its code blocks the event loop. */
  requestStop(execution: string, message: string): void
  /** Kills the process. If it is already ending, the first reason remains. */
  kill(ending: PeerEnding): void
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>
}

export interface PeerEvents {
  /** The child wrote to its standard output directly. */
  onStdout(text: string): void
  /** The child has ended or is being killed. No more answers will come. */
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
    cancelKillAtExit()
    events.onEnding(given)
  }

  const kill = () => {
    // Keep this process alive until the child has ended.
    child.ref()
    killGroup(child)
  }
  const cancelKillAtExit = onProgramExit(kill)

  // The cast is safe: `launchChild` opens the fourth descriptor as a socket.
  const limits = {
    maxBytes: bounds.messageBytes,
    maxSentBytes: Number.POSITIVE_INFINITY,
    maxDepth: maxJsonDepth,
    maxUnreadBytes: maxHostUnreadBytes,
  }
  const socket = createSocketLink(child.stdio[3] as Socket, limits)

  // The cast is safe: `launchChild` opens the fifth descriptor as a pipe.
  const stops = child.stdio[4] as Socket
  // An error means that the child has ended.
  stops.on("error", () => {}).resume()
  stops.unref()

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
    // A broken pipe means that the child has ended. `close` reports that.
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
      // A process that the child started may hold the output open. Do not wait for it.
      const patience = setTimeout(
        () => [child.stdout, child.stderr, child.stdio[3], stops].map((end) => end?.destroy()),
        200,
      )
      child.on("close", () => clearTimeout(patience))
    })
    // `close` is emitted after all output has been read.
    child.on("close", (code, signal) => {
      end(endingFromExit(code, signal, stderr))
      socket.close()
      resolve()
    })
  })

  return {
    link: {
      send(frame) {
        if (!ending) socket.send(frame)
      },
      listen(handlers) {
        socket.listen({
          onFrame: handlers.onFrame,
          onEnd(problem) {
            // The socket no longer keeps this process alive, so the child must, until its end is reported.
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
    requestStop(x, message) {
      if (!ending) stops.write(`${JSON.stringify({ x, message: message.slice(0, 1_000) })}\n`)
    },
    kill(given) {
      end(given)
      kill()
    },
  }
}

// One level of a value may be three levels of JSON: a Map is an array of arrays in a tagged object.
const maxJsonDepth = 4_000

const maxStderr = 8_000

function endingFromExit(code: number | null, signal: NodeJS.Signals | null, stderr: string): PeerEnding {
  if (/heap out of memory|Allocation failed|OOM error|Zone Allocation/i.test(stderr)) {
    return { kind: "memory", why: "it ran out of heap memory" }
  }
  // A shell and bubblewrap report a signal as an exit code above 128.
  const ended = signal ?? signalNames.get((code ?? 0) - 128)
  // After a signal, stderr does not explain the end.
  if (ended !== undefined) return { kind: "crash", why: `it was ended by ${ended}` }
  const lines = stderr.trim().split("\n")
  // After an uncaught error Node prints its stack and version, so the message is not in the last line.
  const reason = (lines.findLast((line) => /^\w*Error\b.*: /.test(line)) ?? lines.at(-1))?.slice(0, 300)
  return { kind: "crash", why: `it exited with code ${code}${reason ? ` (${reason})` : ""}` }
}

// Reversed, so that the first and better known of two names of a signal is used.
const signalNames = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
)
