// The standard streams of a command: input from a file, and one named pipe for both outputs.
import type { ChildProcess } from "node:child_process"
import { closeSync, constants, openSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { Socket } from "node:net"
import { runProgram } from "../../core/child/child-process.ts"
import { systemPath } from "../../core/child/watchdog.ts"
import { AgentError, errorData } from "../../core/errors.ts"

/** Both outputs share one pipe, so that their order is preserved. It is a named pipe because Node's pipes are
 *  sockets, which a program cannot open as /dev/stderr. */
export interface CommandStreams {
  /** Starts a child with the streams. */
  connect(start: (stdin: number | "ignore", output: number) => ChildProcess): ConnectedCommand
  /** Removes their files, which are not needed once a child is connected. */
  remove(): Promise<void>
}

export interface ConnectedCommand {
  child: ChildProcess
  output: Socket
}

/** Creates the streams at a path of their own. Without `text`, the input is empty. */
export async function createCommandStreams(path: string, text: string | undefined): Promise<CommandStreams> {
  const pipe = `${path}.pipe`
  const file = `${path}.in`
  try {
    await runProgram("mkfifo", ["-m", "600", pipe], { env: { PATH: systemPath } })
    if (text !== undefined) await writeFile(file, text, { mode: 0o600, flag: "wx" })
  } catch (error) {
    throw notStartedError(error)
  }
  return {
    connect(start) {
      const readEnd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
      const passed = [openSync(pipe, constants.O_WRONLY), ...(text === undefined ? [] : [openSync(file, "r")])]
      try {
        const [output = readEnd, stdin = "ignore"] = passed
        const child = start(stdin, output)
        return { child, output: new Socket({ fd: readEnd, readable: true, writable: false }) }
      } catch (error) {
        closeSync(readEnd)
        throw notStartedError(error)
      } finally {
        for (const descriptor of passed) closeSync(descriptor)
      }
    },
    async remove() {
      await Promise.all([pipe, file].map((name) => rm(name, { force: true })))
    },
  }
}

export function notStartedError(cause: unknown): AgentError {
  return new AgentError(`The command could not be started: ${errorData(cause).message}.`, {
    code: "not-started",
    cause,
  })
}
