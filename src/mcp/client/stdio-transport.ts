// Starts an MCP server as a child process and exchanges messages over its standard streams.
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import type { Writable } from "node:stream"
import { setImmediate } from "node:timers/promises"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { hasEnded, killGroup, onProgramExit } from "../../core/child/child-end.ts"
import { spawn } from "../../core/child/child-process.ts"
import { AgentError, ConfigError } from "../../core/errors.ts"
import { resultWithin } from "../../core/time-limit.ts"
import type { McpCommand } from "../mcp-types.ts"
import type { ClientPackage } from "../sdk-packages.ts"

export interface StdioTransport extends Transport {
  readonly pid: number | undefined
  /** The SDK recognises this kind of transport by `stderr` and `pid`. */
  readonly stderr: null
  /** How the program ended and the last line of its standard error, as a clause. */
  endReason(): string
}

const graceMs = 1000
const maxMessageBytes = 64 * 2 ** 20

/** Creates a transport. The program runs in its own process group, which is ended as a whole, and gets little of the
 *  host's environment. */
export function createStdioTransport(sdk: ClientPackage, server: McpCommand): StdioTransport {
  const { command, args = [], env = {}, cwd } = server
  const incoming = new sdk.ReadBuffer({ maxBufferSize: maxMessageBytes })
  let child: ChildProcessWithoutNullStreams | undefined
  let cancelKillAtExit: (() => void) | undefined
  let exited: Promise<boolean> = Promise.resolve(true)
  let stderrTail = ""
  let isClosed = false
  let isDelivering = false

  function read(chunk: Buffer): void {
    try {
      incoming.append(chunk)
      void deliver()
    } catch (error) {
      fail(error)
      void transport.close()
    }
  }

  // Delivers messages one by one, so that a progress notification that arrives with the answer is handled before it.
  async function deliver(): Promise<void> {
    if (isDelivering) return
    isDelivering = true
    for (;;) {
      try {
        const message = incoming.readMessage()
        if (message === null) break
        transport.onmessage?.(message)
      } catch (error) {
        fail(error)
      }
      await setImmediate()
    }
    isDelivering = false
  }

  function fail(error: unknown): void {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
  }

  function ended(): void {
    killGroup(child)
    cancelKillAtExit?.()
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }

  const transport: StdioTransport = {
    get pid() {
      return child?.pid
    },
    stderr: null,
    async start() {
      if (cwd !== undefined && !existsSync(cwd))
        throw new ConfigError(`mcpTools: there is no folder "${cwd}" to start the server in.`)
      child = spawn(command, [...args], {
        cwd,
        env: { ...allowedEnvironment(), ...env },
        stdio: "pipe",
        // Its own process group, so that everything it starts can be ended with it.
        detached: process.platform !== "win32",
        windowsHide: true,
      })
      child.stdout.on("data", read)
      child.stderr.on("data", (chunk) => {
        stderrTail = `${stderrTail}${chunk}`.slice(-2000)
      })
      child.stdin.on("error", fail)
      await once(child, "spawn").catch((cause) => {
        throw notStartedError(command, cause)
      })
      cancelKillAtExit = onProgramExit(() => killGroup(child))
      child.on("error", fail)
      child.on("close", ended)
      const exit = Promise.withResolvers<boolean>()
      exited = exit.promise
      child.on("exit", () => {
        // Processes that it started may hold its pipes open.
        killGroup(child)
        exit.resolve(true)
      })
    },
    async send(message: JSONRPCMessage) {
      if (!child?.stdin.writable) throw new AgentError("The program has ended.", { code: "server-gone" })
      const { stdin } = child
      if (!stdin.write(sdk.serializeMessage(message))) await Promise.race([whenDrained(stdin), exited])
    },
    async close() {
      if (!child || isClosed) return
      child.stdin.end()
      if (!(await resultWithin(exited, graceMs))) killGroup(child, "SIGTERM")
      if (!(await resultWithin(exited, graceMs))) killGroup(child)
      await exited
      ended()
    },
    endReason() {
      if (!child || !hasEnded(child)) return "it was cut off"
      const end = child.signalCode ? `it was ended by ${child.signalCode}` : `it ended with exit code ${child.exitCode}`
      const [last] = stderrTail.trim().split("\n").slice(-1)
      return last ? `${end}: ${last}` : end
    },
  }
  return transport
}

const drains = new WeakMap<Writable, Promise<unknown>>()

// All waiting senders share one listener.
function whenDrained(stream: Writable): Promise<unknown> {
  const known = drains.get(stream) ?? once(stream, "drain").finally(() => drains.delete(stream))
  drains.set(stream, known)
  return known
}

function notStartedError(command: string, cause: unknown): AgentError {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT"
  const reason = isMissing ? "there is no such program in PATH; install it, or give its whole path" : String(cause)
  return new AgentError(`"${command}" could not be started: ${reason}.`, { code: "server-gone", cause })
}

const allowedNames =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|TMPDIR|TEMP|TMP|SYSTEMROOT|SYSTEMDRIVE|APPDATA|LOCALAPPDATA|USERPROFILE|PATHEXT|COMSPEC)$/i

function allowedEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => allowedNames.test(name)))
}
