// The tools `shell` and `check_command`: run commands in the workspace's folder, also in the background.
import { basename } from "node:path"
import * as z from "zod"
import { checkOptions } from "../core/checks/check-options.ts"
import { resultWithin } from "../core/time-limit.ts"
import type { ApprovalCondition } from "../runtime/runtime.ts"
import { withFailuresAsResults } from "./files/file-results.ts"
import { reportCommand } from "./shell/command-report.ts"
import { type Commands, type CommandsOptions, commands } from "./shell/commands.ts"
import { createProgressReporter } from "./shell/progress-reporter.ts"
import type { Command } from "./shell/running-command.ts"
import { shellChecks, shellToolChecks } from "./shell/shell-option-checks.ts"
import { type Tool, type ToolResult, tool, toolFailure } from "./tool.ts"
import { reservedPrefix } from "./tool-state.ts"

export interface ShellOptions extends CommandsOptions, ShellToolOptions {}

export interface ShellToolOptions {
  /** Ask before each command, or only if this function returns true: `({ args: [{ command }] }) => …`. Default true. */
  approve?: boolean | ApprovalCondition | undefined
  /** How long the tool waits for a command. Default 120 s. */
  timeoutMs?: number | undefined
  /** The longest time that the model may request. Default 600 s. */
  maxTimeoutMs?: number | undefined
  /** What happens to a command that takes longer: it continues in the background, or is killed. Default
   *  `background`. */
  onTimeout?: "background" | "kill" | undefined
}

export interface ShellTools extends AsyncDisposable {
  /** `shell` and `check_command`. */
  readonly tools: readonly Tool[]
  readonly commands: Commands
  /** Ends every command that was started, and all processes they started. */
  close(): Promise<void>
}

/** Creates the tools for one run or conversation; close them with it. The workspace must be a local folder. */
export function shellTools(options: ShellOptions = {}): ShellTools {
  checkOptions("shellTools()", options, shellChecks)
  const { approve, timeoutMs, maxTimeoutMs, onTimeout, ...launch } = options
  const own = commands(launch)
  const tools = [shellTool(own, { approve, timeoutMs, maxTimeoutMs, onTimeout }), checkCommandTool(own)]
  return { tools, commands: own, close: own.close, [Symbol.asyncDispose]: own.close }
}

/** Runs a command and returns its output, or leaves it running in the background. */
export function shellTool(commands: Commands, options: ShellToolOptions = {}): Tool {
  checkOptions("shellTool()", options, shellToolChecks)
  const { approve = true, timeoutMs: usualMs = 120_000, maxTimeoutMs = 600_000, onTimeout = "background" } = options
  const after = onTimeout === "kill" ? "it is killed" : "it continues in the background"
  return tool({
    name: "shell",
    description: `Runs a ${basename(commands.shell)} command in the workspace. Of a long output you see both ends.${confinementText(commands)}`,
    input: z.strictObject({
      command: z.string(),
      cwd: z.string().optional().describe("A folder of the workspace. Default: its root."),
      stdin: z.string().optional(),
      timeoutMs: z.int().min(1).max(maxTimeoutMs).optional().describe(`Default ${usualMs}; after that ${after}.`),
      background: z.boolean().optional().describe("Return an id for check_command at once."),
    }),
    approve,
    run: ({ command, cwd, stdin, timeoutMs = usualMs, background }, { workspace, state, signal, progress }) =>
      withFailuresAsResults(async () => {
        const reporter = createProgressReporter(progress)
        const onOutput = background ? undefined : reporter.add
        const lastNumber = Number(state.get(lastCommandKey) ?? 0)
        const started = await commands.start({ command, cwd, stdin, workspace, signal, lastNumber, onOutput })
        state.set(lastCommandKey, Math.max(lastNumber, Number(started.id.slice(1))))
        if (background) return await leaveInBackground(started, "Started in the background")
        const end = await resultWithin(started.ended, timeoutMs, signal)
        reporter.end()
        signal.throwIfAborted()
        if (end) return await reportCommand(started, end)
        if (onTimeout === "background") return await leaveInBackground(started, `Still running after ${timeoutMs} ms`)
        await started.stop("timeout")
        return await reportCommand(started, await resultWithin(started.ended, killWaitMs, signal))
      }),
  })
}

/** The state key for the number of the last command, so that ids are unique in a conversation. */
const lastCommandKey = `${reservedPrefix}commands`

/** Reports the state of a command, waits for it, or kills it. */
export function checkCommandTool(commands: Commands): Tool {
  return tool({
    name: "check_command",
    description: "Returns the state of a background command and its output since the last check.",
    input: z.strictObject({
      id: z.string(),
      waitMs: z.int().min(0).max(600_000).optional().describe("How long to wait for its end. Default 0."),
      kill: z.boolean().optional(),
    }),
    run: ({ id, waitMs = 0, kill }, { signal }) =>
      withFailuresAsResults(async () => {
        const command = commands.find(id)
        if (!command) return toolFailure("unknown-command", unknownText(id, commands))
        if (kill) await command.stop("killed")
        const end = command.end ?? (await resultWithin(command.ended, kill ? killWaitMs : waitMs, signal))
        signal.throwIfAborted()
        return await reportCommand(command, end)
      }),
  })
}

// A killed command ends within this time, or never.
const killWaitMs = 5000

async function leaveInBackground(command: Command, what: string): Promise<ToolResult> {
  command.release()
  return await reportCommand(command, undefined, `${what}: command "${command.id}". See it with check_command.`)
}

function confinementText({ sandbox, network }: Commands): string {
  if (sandbox === "none") return ""
  return ` It can write only there${network === "none" ? ", and has no network" : ""}.`
}

function unknownText(id: string, commands: Commands): string {
  const running = commands.running()
  const known = running.length === 0 ? "None is running" : `Running: ${running.join(", ")}`
  return `There is no command "${id}". ${known}. Commands end with the run, or the process, that started them.`
}
