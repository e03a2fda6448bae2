// Starts every process of Karst (test/architecture.test.ts checks this), so that no child inherits descriptors by
// accident. On Linux, Node passes on every descriptor without the close-on-exec flag: those opened by native code, and
// those inherited by this process. Here each of them is replaced by the null device. On macOS and Windows, Node passes
// on only the descriptors listed in `stdio`.
import * as node from "node:child_process"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"
import { devNull } from "node:os"
import type { Readable, Writable } from "node:stream"

type Options = Omit<node.SpawnOptions, "stdio">
type Pipe = "pipe"

/** Like Node's `spawn`, but the child inherits only the descriptors named in `stdio`. */
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Pipe | readonly [Pipe, Pipe, Pipe] },
): node.ChildProcessWithoutNullStreams
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: readonly [Pipe, "ignore", "ignore"] },
): node.ChildProcessByStdio<Writable, null, null>
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: readonly ["ignore", Pipe, "ignore"] },
): node.ChildProcessByStdio<null, Readable, null>
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Readonly<node.StdioOptions> },
): node.ChildProcess
export function spawn(
  program: string,
  args: readonly string[],
  options: Options & { stdio: Readonly<node.StdioOptions> },
): node.ChildProcess {
  return withoutInheritedDescriptors(options.stdio, (stdio) => node.spawn(program, args, { ...options, stdio }))
}

/** Like Node's `spawnSync` with text output, but the child inherits no descriptors. */
export function spawnSync(
  program: string,
  args: readonly string[],
  { env, timeoutMs }: { env: Record<string, string>; timeoutMs: number },
): node.SpawnSyncReturns<string> {
  return withoutInheritedDescriptors("pipe", (stdio) =>
    node.spawnSync(program, args, { env, timeout: timeoutMs, stdio, encoding: "utf8" }),
  )
}

/** Like Node's `fork`, but the child inherits only the standard streams and the message channel. */
export function fork(module: string | URL, args: readonly string[], options: node.ForkOptions = {}): node.ChildProcess {
  const { stdio = ["inherit", "inherit", "inherit", "ipc"] } = options
  return withoutInheritedDescriptors(stdio, (own) => node.fork(module, args, { ...options, stdio: own }))
}

/** Thrown if a program that was run to its end failed. */
export interface ProgramFailure extends Error {
  /** An error name such as `ENOENT` if the program could not be started, otherwise its exit code; null if a signal
   *  ended it. */
  code: string | number | null
  stderr: string
}

/** Runs a program to its end and returns its output. Rejects with a `ProgramFailure` if the program cannot be
 *  started, fails or takes too long. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, timeoutMs }: { env?: NodeJS.ProcessEnv | undefined; timeoutMs?: number | undefined } = {},
): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(program, args, { env, timeout: timeoutMs, stdio: ["pipe", "pipe", "pipe"] })
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

/** Returns the descriptors of this process, other than the standard streams, that a child would inherit. */
function inheritedDescriptors(): number[] {
  if (process.platform !== "linux") return []
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor))
}

/** Returns the command that runs a program without the `inheritedDescriptors`, for packages such as node-pty that start
 *  processes themselves. If there are any, Node closes them and then replaces itself by the program in the same
 *  process. `program` must be an absolute path. */
export function commandWithoutDescriptors(
  program: string,
  args: readonly string[],
): { program: string; args: string[] } {
  if (inheritedDescriptors().length === 0) return { program, args: [...args] }
  return { program: process.execPath, args: ["--no-warnings", "-e", execScript, "--", program, ...args] }
}

const closeOnExec = 0o2000000

const execScript = `
const { closeSync, readdirSync, readFileSync } = require("node:fs")
for (const descriptor of readdirSync("/proc/self/fd").map(Number).filter((each) => each > 2)) {
  try {
    const [, flags] = /^flags:\\s+(\\d+)/m.exec(readFileSync("/proc/self/fdinfo/" + descriptor, "latin1"))
    if ((parseInt(flags, 8) & ${closeOnExec}) === 0) closeSync(descriptor)
  } catch {}
}
const [, program, ...args] = process.argv
process.execve(program, [program, ...args], process.env)`

function isInherited(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? []
    return (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // Already closed: `readdirSync` listed its own descriptor.
    return false
  }
}

function withoutInheritedDescriptors<T>(
  requested: Readonly<node.StdioOptions>,
  start: (stdio: node.StdioOptions) => T,
): T {
  const slots = typeof requested === "string" ? [requested, requested, requested] : [...requested]
  const inherited = inheritedDescriptors().filter((descriptor) => slots[descriptor] === undefined)
  if (inherited.length === 0) return start(slots)
  const nullDevice = openSync(devNull, "r+")
  try {
    // "ignore" in a slot above the standard streams leaves that descriptor unchanged.
    const highest = inherited.reduce((most, each) => Math.max(most, each))
    const stdio = [...slots, ...Array.from({ length: highest + 1 - slots.length }, () => "ignore" as const)]
    for (const descriptor of inherited) stdio[descriptor] = nullDevice
    return start(stdio)
  } finally {
    closeSync(nullDevice)
  }
}
