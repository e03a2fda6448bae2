import type { Socket } from "node:net"
import { constants } from "node:os"
import { openChannel } from "./channel.ts"
import { type Crossing, hasPrototypeKey } from "./crossing.ts"
import { type Launch, launch } from "./launch.ts"
import { watch } from "./limits.ts"
import { type Ask, type FromChild, readMessage, type ToChild } from "./protocol.ts"

/** How a child came to its end. */
export interface Ending {
  kind: "crash" | "memory" | "timeout" | "aborted"
  /** Why, as the end of a sentence: "it …". */
  why: string
}

/** One child from its start to its end. */
export interface Link {
  /** Undefined as long as it lives. */
  readonly ending: Ending | undefined
  /** Asks for something. Resolves to undefined when the child ended instead of answering. */
  ask(ask: Ask, input: Crossing, onId?: (id: number) => void): Promise<Reply | undefined>
  send(message: ToChild): void
  /** Processor time counts from here. */
  startCell(): void
  /** Ends it for certain. The first reason stays. */
  kill(ending: Ending): void
  /** Comes when the process is gone. */
  readonly gone: Promise<void>
}

export interface Reply {
  ok: boolean
  value: Crossing
}

export interface LinkOptions extends Launch {
  onMessage(message: Exclude<FromChild, { type: "result" }>): void
  /** What the child wrote past its cells. */
  onStdout(text: string): void
}

export function startLink(options: LinkOptions): Link {
  const { bounds } = options
  const child = launch(options)
  const waiting = new Map<number, (reply: Reply | undefined) => void>()
  let ending: Ending | undefined
  let stderr = ""
  let asked = 0

  const end = (given: Ending) => {
    ending ??= given
    watchdog?.stop()
    living.delete(kill)
    for (const settle of waiting.values()) settle(undefined)
    waiting.clear()
  }

  const kill = () => {
    // Whoever waits for its end must live to see it.
    child.ref()
    try {
      // The group: what it started goes with it.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      child.kill("SIGKILL")
    }
  }

  const forged = (what: string) => {
    end({ kind: "crash", why: `it sent ${what} to its host` })
    kill()
  }

  const hold = () => {
    const busy = waiting.size > 0
    channel.hold(busy)
    watchdog?.pace(busy)
  }

  const receive = (received: unknown, bytes: Buffer) => {
    const message = readMessage(received)
    if (!message) return forged("a message that is none")
    if (spellings.some((text) => bytes.includes(text)) && hasPrototypeKey(message)) {
      return forged("a key that would change a prototype")
    }
    if (message.type !== "result") return options.onMessage(message)
    const settle = waiting.get(message.id)
    if (!settle) return forged("an answer that nobody asked for")
    waiting.delete(message.id)
    hold()
    settle(message)
  }

  // A true boundary: the fourth descriptor of `launch` is a socket.
  const channel = openChannel(child.stdio[3] as Socket, {
    maxBytes: bounds.messageBytes,
    onMessage(received, bytes) {
      try {
        receive(received, bytes)
      } catch {
        // Nested too deeply to be looked at, or worse; whatever it was, no child of ours sends it.
        forged("a message that cannot be read")
      }
    },
    onEnd(problem) {
      // Until now it was the channel that kept the host waiting.
      child.ref()
      if (problem !== undefined) forged(problem)
    },
  })

  channel.send({ type: "limit", maxBytes: bounds.messageBytes } satisfies ToChild)

  const watchdog =
    child.pid === undefined
      ? undefined
      : watch(child.pid, bounds, (kind, why) => {
          end({ kind, why })
          kill()
        })

  child.stdout?.setEncoding("utf8").on("data", (text: string) => options.onStdout(text))
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-maxStderr)
  })
  child.unref()
  for (const stream of [child.stdout, child.stderr]) {
    // A pipe that breaks is the child's end, which is told by itself.
    stream?.on("error", () => {})
    // A true boundary: pipes of a child are sockets.
    ;(stream as Socket | null)?.unref()
  }

  const gone = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      end({ kind: "crash", why: `it could not be started: ${error.message}` })
      resolve()
    })
    child.on("exit", () => {
      // Something it started may hold its output open, and is not waited for.
      const patience = setTimeout(() => [child.stdout, child.stderr, child.stdio[3]].map((end) => end?.destroy()), 200)
      child.on("close", () => clearTimeout(patience))
    })
    // `close` comes when all it said has been read.
    child.on("close", (code, signal) => {
      end(endingOf(code, signal, stderr))
      channel.close()
      resolve()
    })
  })
  killAtExit(kill)

  return {
    get ending() {
      return ending
    },
    gone,
    ask(ask, input, onId) {
      if (ending) return Promise.resolve(undefined)
      const id = ++asked
      channel.send({ type: "ask", id, ask, input } satisfies ToChild)
      onId?.(id)
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        hold()
      })
    },
    send(message) {
      if (!ending) channel.send(message)
    },
    startCell: () => watchdog?.startCell(),
    kill(given) {
      end(given)
      kill()
    },
  }
}

/** Ways to end the children that live. */
const living = new Set<() => void>()
let watchesExit = false

function killAtExit(kill: () => void): void {
  living.add(kill)
  if (watchesExit) return
  watchesExit = true
  process.on("exit", () => {
    for (const end of living) end()
  })
}

const maxStderr = 8_000
// The ways in which a key can be written in a message: in a clone as it is, in JSON also by the numbers of its letters.
const spellings = [Buffer.from("__proto__", "latin1"), Buffer.from("__proto__", "utf16le"), Buffer.from("\\u")]

function endingOf(code: number | null, signal: NodeJS.Signals | null, stderr: string): Ending {
  if (/heap out of memory|Allocation failed|OOM error|Zone Allocation/i.test(stderr)) {
    return { kind: "memory", why: "it ran out of heap memory" }
  }
  // A shell and bubblewrap tell a signal by a number above 128.
  const ended = signal ?? signalNames.get((code ?? 0) - 128)
  // What Node and the system write then is a stack of their own, which tells nobody anything.
  if (ended !== undefined) return { kind: "crash", why: `it was ended by ${ended}` }
  const last = stderr.trim().split("\n").at(-1)?.slice(0, 300)
  return { kind: "crash", why: `it exited with code ${code}${last ? ` (${last})` : ""}` }
}

// Some have a second name, which comes later and is the lesser known.
const signalNames = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
)
