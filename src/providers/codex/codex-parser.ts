// Parses the JSON lines that Codex writes during one turn.
import type { ProviderErrorCode } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { newId } from "../../core/message.ts"
import { cliReportedUsage, type Usage } from "../../core/usage.ts"
import type { Step, TurnSettings } from "../provider.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, listAt, numberAt, objectAt, textAt, toolContentOf, valueAt } from "../read-json.ts"
import type { LineParser, ParsedLine } from "../turn/json-lines-session.ts"
import { parseResetTime } from "../turn/reset-time.ts"

const codexNames = { provider: "codex", title: "Codex" }

/** The total usage of a thread, as Codex reports it. */
export interface ThreadUsage {
  input: number
  cached: number
  written: number
  output: number
  reasoning: number
}

export interface CodexParserOptions extends Pick<TurnSettings, "timeoutMs" | "idleTimeoutMs"> {
  /** The usage of the thread before this turn; undefined if unknown. */
  totalBeforeTurn: ThreadUsage | undefined
  /** Makes item ids unique, because Codex numbers items from the start in each process. */
  prefix?: string | undefined
}

export function createCodexParser({ totalBeforeTurn, prefix = newId("x"), ...limits }: CodexParserOptions): LineParser {
  /** The length of the output reported so far, by call id. */
  const reported = new Map<string, number>()
  /** The last error that Codex did not retry. */
  let lastError: string | undefined

  function item(line: JsonObject, phase: "started" | "updated" | "completed"): ParsedLine {
    const item = objectAt(line, "item")
    const [type = "", text = ""] = [textAt(item, "type"), textAt(item, "text")]
    if (type === "agent_message" || type === "reasoning") {
      const isText = type === "agent_message"
      return phase === "completed" && text !== "" ? oneStep({ type: isText ? "text" : type, text }) : noSteps
    }
    const message = textAt(item, "message") ?? "unknown"
    if (type === "error") return oneStep({ type: "warning", code: "codex", message })
    const call = callOf(type, item)
    if (!call) return noSteps
    const id = `${prefix}_${textAt(item, "id")}`
    const steps: Step[] = []
    if (!reported.has(id)) {
      reported.set(id, 0)
      steps.push({ type: "call", id, ...call })
    }
    if (phase !== "completed") return { steps: [...steps, ...progress(id, item)] }
    steps.push({ type: "result", id, ...resultOf(item) })
    const paths = listAt(item, "changes").flatMap((change) => textAt(change, "path") ?? [])
    if (paths.length > 0 && textAt(item, "status") !== "failed") steps.push({ type: "files", paths })
    return { steps }
  }

  function progress(id: string, item: JsonObject): Step[] {
    const output = textAt(item, "aggregated_output") ?? ""
    const seen = reported.get(id) ?? 0
    reported.set(id, output.length)
    return output.length > seen ? [{ type: "progress", id, text: output.slice(seen) }] : []
  }

  function failed(message: string): ParsedLine {
    const failure = providerFailure({ ...codexNames, ...parseFailure(message) })
    return { steps: [], end: { usage: { complete: false }, failure } }
  }

  return {
    read(line) {
      const message = textAt(line, "message") ?? textAt(line, "error", "message")
      switch (textAt(line, "type")) {
        case "thread.started":
          return oneStep({ type: "key", key: textAt(line, "thread_id") ?? "" })
        case "item.started":
          return item(line, "started")
        case "item.updated":
          return item(line, "updated")
        case "item.completed":
          return item(line, "completed")
        case "turn.completed":
          return { steps: [], end: { usage: usageSince(totalBeforeTurn, objectAt(line, "usage")) } }
        case "turn.failed":
          return failed(message ?? lastError ?? "the turn failed")
        case "error":
          // `turn.failed` repeats the error, unless Codex retries.
          if (!/^Reconnecting\.\.\. \d+\/\d+/.test(message ?? "")) lastError = message
          else return oneStep({ type: "warning", code: "cli-retry", message: `Codex: ${message}` })
          return noSteps
        default:
          return noSteps
      }
    },
    readExit(end) {
      const usage = { complete: false }
      const stderr = end.stderr.trim()
      if (end.stopped === undefined && lastError !== undefined)
        return { usage, failure: providerFailure({ ...codexNames, ...parseFailure(lastError), stderr }) }
      if (/no rollout found|no saved session|session .{0,200}? not found/i.test(end.stderr)) {
        const message = stderr.split("\n").at(-1) ?? ""
        return { usage, failure: providerFailure({ ...codexNames, message, code: "session-not-found" }) }
      }
      return { usage, failure: exitFailure(codexNames, end, limits) }
    },
  }
}

const noSteps: ParsedLine = { steps: [] }

function oneStep(step: Step): ParsedLine {
  return { steps: [step] }
}

/** The call of an item, if it is one. MCP tools are named as in other CLIs. */
function callOf(type: string, item: JsonObject): { name: string; input: Json } | undefined {
  switch (type) {
    case "command_execution":
      return { name: type, input: { command: valueAt(item, "command") ?? "" } }
    case "mcp_tool_call":
      return {
        name: `mcp__${textAt(item, "server")}__${textAt(item, "tool")}`,
        input: valueAt(item, "arguments") ?? {},
      }
    case "file_change":
      return { name: type, input: { changes: valueAt(item, "changes") ?? [] } }
    case "":
    case "todo_list":
      return undefined
    default: {
      // Item types of newer versions: all other fields are the input.
      const { id, type: _, status, result, error, aggregated_output, exit_code, ...input } = item
      return { name: type, input }
    }
  }
}

function resultOf(item: JsonObject): { ok: boolean; text: string } {
  const exitCode = numberAt(item, "exit_code")
  const error = textAt(item, "error", "message") ?? textAt(item, "error")
  const status = textAt(item, "status")
  const ok = error === undefined && status !== "failed" && status !== "declined" && (exitCode ?? 0) === 0
  if (error !== undefined) return { ok, text: error }
  const output = textAt(item, "aggregated_output")
  if (output !== undefined) return { ok, text: ok ? output : `${output}\n(exit code ${exitCode ?? "unknown"})` }
  const changes = listAt(item, "changes").map((change) => `${textAt(change, "kind")} ${textAt(change, "path")}`)
  if (changes.length > 0) return { ok, text: changes.join("\n") }
  return { ok, ...toolContentOf(valueAt(item, "result", "content")) }
}

/** The usage of this turn, computed from the thread's total. */
function usageSince(before: ThreadUsage | undefined, usage: JsonObject): Usage {
  const after = threadUsage(usage)
  return after && before ? cliReportedUsage(usageBetween(before, after)) : { complete: false }
}

export function usageBetween(before: ThreadUsage, after: ThreadUsage): Usage {
  const since = (name: keyof ThreadUsage) => Math.max(0, after[name] - before[name])
  return {
    complete: true,
    input: since("input"),
    output: since("output"),
    cacheRead: since("cached"),
    cacheWrite: since("written"),
    reasoning: since("reasoning"),
  }
}

export function threadUsage(usage: JsonObject): ThreadUsage | undefined {
  const [input, output] = [numberAt(usage, "input_tokens"), numberAt(usage, "output_tokens")]
  if (input === undefined || output === undefined) return undefined
  return {
    input,
    output,
    cached: numberAt(usage, "cached_input_tokens") ?? 0,
    written: numberAt(usage, "cache_write_input_tokens") ?? 0,
    reasoning: numberAt(usage, "reasoning_output_tokens") ?? 0,
  }
}

/** Reads code, status and reset time from an error message of Codex, which never contains model output. */
function parseFailure(message: string): {
  message: string
  code?: ProviderErrorCode
  status?: number
  retryAt?: number
} {
  const status = Number(/\b(?:status|status code):? (\d{3})\b/i.exec(message)?.[1] ?? Number.NaN)
  const known = Number.isNaN(status) ? {} : { status }
  if (/usage limit/i.test(message)) {
    const retryAt = parseResetTime(message)
    return { message, ...known, code: "rate-limited", ...(retryAt !== undefined && { retryAt }) }
  }
  if (/^Missing environment variable|not logged in|please log in/i.test(message))
    return { message, code: "authentication" }
  if (/high demand|overloaded/i.test(message)) return { message, ...known, code: "overloaded" }
  if (/error sending request|connection (?:refused|reset|closed)|stream disconnected/i.test(message)) {
    return { message, ...known, ...(Number.isNaN(status) && { code: "connection" }) }
  }
  return { message, ...known }
}
