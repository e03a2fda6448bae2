// Reports the state and output of a command as a tool result.
import { errorData } from "../../core/errors.ts"
import { sizeText } from "../files/file-results.ts"
import { type ToolResult, toolResult } from "../tool.ts"
import type { Command, CommandEnd } from "./running-command.ts"

/** What a cell gets that calls `shell` or `check_command` as a function. */
export interface CommandReport {
  id: string
  status: "running" | "exited" | "stopped"
  exitCode?: number
  signal?: string
  /** How long it ran, or has been running. */
  durationMs: number
  /** The output since the last report; if long, its beginning and end. */
  output: string
  /** The path of the complete output, if `output` is shortened. */
  log?: string
}

/** Reports the state of a command, how long it took, and its output since the last report. `lead` replaces the status
 *  line. */
export async function reportCommand(command: Command, end: CommandEnd | undefined, lead?: string): Promise<ToolResult> {
  const { id, output } = command
  const { head, tail, leftOut } = output.take(end !== undefined && !end.goesOn)
  const log = leftOut > 0 ? await publishLog(command) : undefined
  const omission = `… ${sizeText(leftOut)} left out; ${log?.text} …`
  const written = leftOut > 0 ? joinLines(head, omission, tail) : head
  const durationMs = end?.durationMs ?? command.runningMs()
  const { status, code, text } = stateOf(end, durationText(durationMs))
  const notes = [
    output.droppedNote(),
    end?.goesOn && `What it started goes on; its output comes with check_command "${id}".`,
  ]
  const value: CommandReport = {
    id,
    status,
    ...(typeof end?.exitCode === "number" && { exitCode: end.exitCode }),
    ...(end?.signal && { signal: end.signal }),
    durationMs,
    output: written,
    ...(log?.path && { log: log.path }),
  }
  const shown = joinLines(lead ?? text, written || "(no output)", ...notes)
  return toolResult({ text: shown, value, ...(code !== undefined && { code }) })
}

function joinLines(...parts: (string | false | undefined)[]): string {
  const [first = "", ...rest] = parts.filter((part) => part !== undefined && part !== false && part !== "")
  return rest.reduce<string>((text, part) => `${text}${text.endsWith("\n") ? "" : "\n"}${part}`, String(first))
}

async function publishLog({ output }: Command): Promise<{ text: string; path?: string }> {
  try {
    const path = await output.publish()
    return { text: `all of it is in ${path}`, path }
  } catch (error) {
    return { text: `it could not be kept: ${errorData(error).message}` }
  }
}

interface CommandState {
  status: CommandReport["status"]
  text: string
  /** Set if the command failed. */
  code?: string
}

function durationText(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
}

function stateOf(end: CommandEnd | undefined, duration: string): CommandState {
  if (!end) return { status: "running", text: `Running for ${duration}.` }
  const { exitCode, signal, stopped } = end
  if (stopped === "timeout")
    return { status: "stopped", text: `Killed after ${duration}: it was out of time.`, code: "timeout" }
  if (stopped)
    return { status: "stopped", text: `Killed after ${duration}.`, ...(stopped !== "killed" && { code: stopped }) }
  const text = signal ? `Ended by ${signal} after ${duration}.` : `Exit code ${exitCode} after ${duration}.`
  return { status: "exited", text, ...(exitCode !== 0 && { code: "command-failed" }) }
}
