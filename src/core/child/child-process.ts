import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  type ForkOptions,
  fork as nodeFork,
  spawn as nodeSpawn,
  spawnSync as nodeSpawnSync,
  type SpawnOptions,
  type SpawnSyncReturns,
  type StdioOptions,
} from "node:child_process"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"
import { devNull } from "node:os"
import type { Readable, Writable } from "node:stream"

// Every process that Karst starts is started here (test/architecture.test.ts). Node hands a child every descriptor of
// this process that has no close-on-exec flag: those that native code opened, and those that this process inherited
// itself. A child of ours gets none of them: each is replaced by the null device in the child. On macOS and Windows the
// system itself hands on only the descriptors that are listed in `stdio`.

type Options = Omit<SpawnOptions, "stdio">
type Pipe = "pipe"

/** As `spawn` of Node, but the child inherits only the descriptors that `stdio` names. */
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Pipe | readonly [Pipe, Pipe, Pipe] },
): ChildProcessWithoutNullStreams
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: readonly [Pipe, "ignore", "ignore"] },
): ChildProcessByStdio<Writable, null, null>
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: readonly ["ignore", Pipe, "ignore"] },
): ChildProcessByStdio<null, Readable, null>
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Readonly<StdioOptions> },
): ChildProcess
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Readonly<StdioOptions> },
): ChildProcess {
  return withoutInheritedDescriptors(options.stdio, (stdio) => nodeSpawn(program, args, { ...options, stdio }))
}

/** As `spawnSync` of Node with text for output, but the child inherits nothing. */
export function spawnSync(
  program: string,
  args: readonly string[],
  options: { env: Record<string, string>; timeout: number },
): SpawnSyncReturns<string> {
  return withoutInheritedDescriptors("pipe", (stdio) =>
    nodeSpawnSync(program, args, { ...options, stdio, encoding: "utf8" }),
  )
}

/** As `fork` of Node, but the child inherits only the standard streams and the channel of messages. */
export function fork(module: string | URL, args: readonly string[], options: ForkOptions = {}): ChildProcess {
  const { stdio = ["inherit", "inherit", "inherit", "ipc"] } = options
  return withoutInheritedDescriptors(stdio, (own) => nodeFork(module, args, { ...options, stdio: own }))
}

/** How a program that was run to its end failed. */
export interface ProgramFailure extends Error {
  /** A name such as `ENOENT` where it could not be started, else its exit code; null where a signal ended it. */
  code: string | number | null
  stderr: string
}

/** Runs a program to its end and gives what it wrote. Rejects with a `RunFailure` when it cannot be started, fails or
 *  takes too long. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv | undefined; timeout?: number | undefined } = {},
): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] })
  const output = { stdout: "", stderr: "" }
  child.stdin.on("error", () => undefined).end()
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text
    })
  }
  const code = await new Promise<string | number | null>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    child.on("close", resolve)
  })
  if (code === 0) return output
  const message = `${program} failed (${code ?? child.signalCode}): ${output.stderr.trim()}`
  const failure: ProgramFailure = Object.assign(new Error(message), { code, stderr: output.stderr })
  throw failure
}

/** The descriptors of this process, besides the standard streams, that every child would inherit. */
export function inheritedDescriptors(): number[] {
  if (process.platform !== "linux") return []
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor))
}

/** The command that runs a program without those descriptors, for a package that starts processes by itself. Where there
 *  are some, Node closes them and then becomes the program, in the same process. The program is an absolute path. */
export function commandWithoutDescriptors(
  program: string,
  args: readonly string[],
): { program: string; args: string[] } {
  if (inheritedDescriptors().length === 0) return { program, args: [...args] }
  return { program: process.execPath, args: ["--no-warnings", "-e", execScript, "--", program, ...args] }
}

const execScript = `
const { closeSync, readdirSync, readFileSync } = require("node:fs")
for (const descriptor of readdirSync("/proc/self/fd").map(Number).filter((each) => each > 2)) {
  try {
    const [, flags] = /^flags:\\s+(\\d+)/m.exec(readFileSync("/proc/self/fdinfo/" + descriptor, "latin1"))
    if ((parseInt(flags, 8) & 0o2000000) === 0) closeSync(descriptor)
  } catch {}
}
const [, program, ...args] = process.argv
process.execve(program, [program, ...args], process.env)`

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? []
    return (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // It was the descriptor of the folder that was read.
    return false
  }
}

const closeOnExec = 0o2000000

function withoutInheritedDescriptors<T>(given: Readonly<StdioOptions>, start: (stdio: StdioOptions) => T): T {
  const named = typeof given === "string" ? [given, given, given] : [...given]
  const inherited = inheritedDescriptors().filter((descriptor) => named[descriptor] === undefined)
  if (inherited.length === 0) return start(named)
  const nothing = openSync(devNull, "r+")
  try {
    // A slot that is "ignore" above the standard streams leaves the descriptor of that number as it is.
    const stdio = [
      ...named,
      ...Array.from(
        { length: inherited.reduce((most, each) => Math.max(most, each)) + 1 - named.length },
        () => "ignore" as const,
      ),
    ]
    for (const descriptor of inherited) stdio[descriptor] = nothing
    return start(stdio)
  } finally {
    closeSync(nothing)
  }
}
