import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { InteractiveOptions, InteractiveResult } from "karst/providers"
import { processesWith, waitUntil } from "../cli-machines.ts"

/** The task of the program in the terminal: see `interactive-child.ts`. */
export interface Task {
  provider?: "claude" | "codex" | undefined
  prompt?: string | undefined
  options?: InteractiveOptions | undefined
  /** Tools and live objects. */
  live?: boolean | undefined
  /** When `shown` appears, the program does this to itself. */
  when?: { shown: string; does: "throw" | "exit" | "abort" | "nothing" } | undefined
}

/** A terminal with a shell that prints the state of the terminal before and after the program. */
export interface TestTerminal {
  /** Everything shown so far. */
  readonly shown: string
  /** Waits until this is shown. */
  sees(text: string | RegExp): Promise<void>
  type(keys: string): void
  resize(columns: number, rows: number): void
  /** Waits for the end. Returns the result that the program printed, and whether the terminal was restored. */
  ended(): Promise<{ result: InteractiveResult | undefined; threw: string | undefined; restored: boolean }>
}

export interface TerminalMachine extends AsyncDisposable {
  readonly home: string
  readonly cwd: string
  /** The environment of programs on this machine. */
  readonly env: Record<string, string>
  start(task: Task, more?: Record<string, string>): TestTerminal
  /** How the CLI was started, as it recorded. */
  launched(): Promise<{ args: string[]; cwd: string; term: string }>
  processes(): Promise<string[]>
}

/** A machine on which the CLIs with these names are installed: each is test/fixtures/fake-tui.ts. */
export async function createTerminalMachine(...installed: string[]): Promise<TerminalMachine> {
  const folder = await mkdtemp(join(tmpdir(), "karst-terminal-"))
  const [home, cwd, bin] = ["home", "work", "bin"].map((name) => join(folder, name)) as [string, string, string]
  for (const each of [home, cwd, bin]) await mkdir(each)
  for (const name of installed) {
    const script = `#!/bin/sh\nexec ${process.execPath} ${join(fixtures, "fake-tui.ts")} "$@"\n`
    await writeFile(join(bin, name), script, { mode: 0o755 })
  }
  const env = { PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, TERM: "xterm-256color" }
  return {
    home,
    cwd,
    env,
    start: (task, more) =>
      startTerminal(taskCommand({ ...task, options: { cwd, ...task.options } }), { ...env, ...more }),
    launched: async () => JSON.parse(await readFile(join(home, "launched.json"), "utf8")),
    processes: async () => (await processesWith(`HOME=${home}`)).filter((command) => !command.startsWith("sh -c")),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

const fixtures = join(import.meta.dirname, "../..", "fixtures")

/** The command that runs a task, for a shell. */
export function taskCommand(task: Task): string {
  const node = `'${process.execPath}' --conditions=karst-source --disable-warning=ExperimentalWarning`
  const encoded = Buffer.from(JSON.stringify(task)).toString("base64url")
  return `${node} '${join(import.meta.dirname, "interactive-child.ts")}' ${encoded}`
}

// The part of node-pty's interface that is used.
type Spawn = (
  file: string,
  args: string[],
  options: object,
) => {
  onData(listener: (text: string) => void): void
  onExit(listener: () => void): void
  write(text: string): void
  resize(columns: number, rows: number): void
}

/** Runs a command in a terminal. The result of the program is the JSON that it prints after `RESULT`. */
export function startTerminal(command: string, env: Record<string, string>, cwd = tmpdir()): TestTerminal {
  const { spawn } = createRequire(import.meta.url)("node-pty") as { spawn: Spawn }
  const script = `echo "[$(stty -g)]"; ${command}; echo "code $?"; echo "[$(stty -g)]"`
  const pty = spawn("sh", ["-c", script], { cols: 100, rows: 30, cwd, env })
  let shown = ""
  let isOver = false
  pty.onData((text) => {
    shown += text
  })
  pty.onExit(() => {
    isOver = true
  })
  return {
    get shown() {
      return shown
    },
    sees: (text) =>
      waitUntil(`${text} is shown, and not ${JSON.stringify(shown.slice(-2000))}`, () =>
        typeof text === "string" ? shown.includes(text) : text.test(shown),
      ),
    type: (keys) => pty.write(keys),
    resize: (columns, rows) => pty.resize(columns, rows),
    async ended() {
      await waitUntil("the terminal ends", () => isOver)
      const [before, after] = [...shown.matchAll(/\[([\da-f:]+)\]/g)].map(([, state]) => state)
      const [, json] = /RESULT (\{.*\})/.exec(shown) ?? []
      const [, threw] = /THREW (.*)/.exec(shown) ?? []
      return {
        result: json === undefined ? undefined : JSON.parse(json),
        threw,
        restored: before !== undefined && before === after,
      }
    },
  }
}
