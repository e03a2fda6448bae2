import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import type { Writable } from "node:stream"
import { setImmediate, setTimeout } from "node:timers/promises"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { spawn } from "../../core/child/child-process.ts"
import { AgentError, ConfigError } from "../../core/errors.ts"
import type { McpCommand } from "../mcp-types.ts"
import type { ClientPackage } from "../sdk-packages.ts"

/** A connection to a program that speaks MCP on its standard input and output. */
export interface StdioTransport extends Transport {
  readonly pid: number | undefined
  /** By this, and `pid`, the protocol's own code knows what kind of a connection it is. */
  readonly stderr: null
  /** How it ended and what it last complained of, in a sentence's words. */
  endReason(): string
}

const graceMs = 1000
const maxMessageBytes = 64 * 2 ** 20

/** The program runs in a process group of its own, which is ended whole, and sees little of the host's environment. */
export function createStdioTransport(sdk: ClientPackage, server: McpCommand): StdioTransport {
  const { command, args = [], env = {}, cwd } = server
  const incoming = new sdk.ReadBuffer({ maxBufferSize: maxMessageBytes })
  let child: ChildProcessWithoutNullStreams | undefined
  let exited: Promise<boolean> = Promise.resolve(true)
  let complaints = ""
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

  // One after the other: a note of progress that comes together with the answer must be heard before it.
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
    killGroup(child, "SIGKILL")
    if (child && runningChildren.delete(child) && runningChildren.size === 0) process.off("exit", killAllChildren)
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
        // Its own group, so that whatever it started ends with it.
        detached: process.platform !== "win32",
        windowsHide: true,
      })
      child.stdout.on("data", read)
      child.stderr.on("data", (chunk) => {
        complaints = `${complaints}${chunk}`.slice(-2000)
      })
      child.stdin.on("error", fail)
      await once(child, "spawn").catch((cause) => {
        throw notStartedError(command, cause)
      })
      killAtExit(child)
      child.on("error", fail)
      child.on("close", ended)
      const exit = Promise.withResolvers<boolean>()
      exited = exit.promise
      child.on("exit", () => {
        // What it leaves behind may hold its pipes open for long.
        killGroup(child, "SIGKILL")
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
      if (!(await happensWithin(graceMs, exited))) killGroup(child, "SIGTERM")
      if (!(await happensWithin(graceMs, exited))) killGroup(child, "SIGKILL")
      await exited
      ended()
    },
    endReason() {
      if (!child || (child.exitCode === null && child.signalCode === null)) return "it was cut off"
      const end = child.signalCode ? `it was ended by ${child.signalCode}` : `it ended with exit code ${child.exitCode}`
      const [last] = complaints.trim().split("\n").slice(-1)
      return last ? `${end}: ${last}` : end
    },
  }
  return transport
}

const runningChildren = new Set<ChildProcessWithoutNullStreams>()

// One listener for all of them.
function killAtExit(child: ChildProcessWithoutNullStreams): void {
  if (runningChildren.size === 0) process.once("exit", killAllChildren)
  runningChildren.add(child)
}

function killAllChildren(): void {
  for (const child of runningChildren) killGroup(child, "SIGKILL")
}

/** Whether something happens in so long a time. */
async function happensWithin(ms: number, event: Promise<boolean>): Promise<boolean> {
  const stop = new AbortController()
  const late = setTimeout(ms, false, { signal: stop.signal }).catch(() => false)
  const came = await Promise.race([event, late])
  stop.abort()
  return came
}

const drains = new WeakMap<Writable, Promise<unknown>>()

// All who wait for it wait together.
function whenDrained(stream: Writable): Promise<unknown> {
  const known = drains.get(stream) ?? once(stream, "drain").finally(() => drains.delete(stream))
  drains.set(stream, known)
  return known
}

function killGroup(child: ChildProcessWithoutNullStreams | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return
  try {
    if (process.platform === "win32") child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // There is nobody left in it.
  }
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
