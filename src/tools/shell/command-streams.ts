import type { ChildProcess } from "node:child_process"
import { closeSync, constants, openSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { Socket } from "node:net"
import { runProgram } from "../../core/child/child-process.ts"
import { AgentError, errorData } from "../../core/errors.ts"

/** What a command reads and writes: a file, and one pipe for both streams, so that their order is kept. The pipe has a name in
 *  the file system, since Node's own pipes are sockets, which a program cannot open as /dev/stderr. */
export interface CommandStreams {
  /** Hands them to a child that is started with them. */
  connect(start: (stdin: number | "ignore", output: number) => ChildProcess): ConnectedChild
  /** Removes their names, which nobody needs once they are connected. */
  remove(): Promise<void>
}

export interface ConnectedChild {
  child: ChildProcess
  output: Socket
}

/** Where the programs are that Karst itself uses here. Not the host's PATH, in which the model may be able to write. */
export const systemPath = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin"

/** Makes the streams under a path of their own. Without `text` there is nothing to read. */
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
      const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
      const given = [openSync(pipe, constants.O_WRONLY), ...(text === undefined ? [] : [openSync(file, "r")])]
      try {
        const [output = reading, stdin = "ignore"] = given
        const child = start(stdin, output)
        return { child, output: new Socket({ fd: reading, readable: true, writable: false }) }
      } catch (error) {
        closeSync(reading)
        throw notStartedError(error)
      } finally {
        for (const descriptor of given) closeSync(descriptor)
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
