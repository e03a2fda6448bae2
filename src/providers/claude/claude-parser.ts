// Parses the JSON lines that Claude Code writes during one turn.
import { addUsage, noUsage, type Usage } from "../../core/usage.ts"
import type { Step, TurnResult, TurnSettings } from "../provider.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, listAt, numberAt, objectAt, textAt, textsAt, toolContentOf, valueAt } from "../read-json.ts"
import type { BackgroundWork, LineParser, ParsedLine, PermissionRequest } from "../turn/json-lines-session.ts"
import { parseResetTime } from "../turn/reset-time.ts"
import { createClaudeBackgroundTasks } from "./claude-background-tasks.ts"
import { claudeErrorCode, claudeErrorCodes, claudeNames, rejectedKeyResult, toolDriftResult } from "./claude-failure.ts"
import { findToolDrift } from "./claude-tools.ts"
import { type ClaudeUsageTotal, reportedTotal, usageBetween, zeroTotal } from "./claude-usage-total.ts"

export interface ClaudeParserOptions
  extends Pick<TurnSettings, "allow" | "permissions" | "timeoutMs" | "idleTimeoutMs"> {
  /** The usage and cost of the conversation before this turn. Default: none. */
  totalBeforeTurn?: ClaudeUsageTotal | undefined
  /** How long a turn waits, after its answer, for background commands and agents. Default 5 minutes. */
  backgroundTimeoutMs?: number | undefined
}

export function createClaudeParser({
  totalBeforeTurn = zeroTotal,
  backgroundTimeoutMs = 300_000,
  ...settings
}: ClaudeParserOptions): LineParser {
  const tasks = createClaudeBackgroundTasks()
  /** True if answers are streamed; then stream events show when a model request starts. */
  let isStreaming = false
  /** The files that running calls change, by call id. */
  const changedFiles = new Map<string, string>()
  let answer: string | undefined
  let used = noUsage
  let current: Usage = noUsage
  /** The CLI's code for a failure of the model service, and when the limit resets. */
  let serviceError: string | undefined
  let retryAt: number | undefined
  /** A message that the CLI wrote itself in place of a model: a failure, or the output of a slash command. */
  let cliMessage: { text: string; failed: boolean } | undefined
  /** The number of steering messages sent, and of user messages (the prompt included) that the CLI has echoed. */
  let steered = 0
  let echoed = 0
  /** The usage up to the previous `result` line. */
  let usedBefore = noUsage
  let hasModelOutput = false

  function system(line: JsonObject): ParsedLine {
    const subtype = textAt(line, "subtype")
    const taskSteps = tasks.read(line)
    if (taskSteps) return { steps: taskSteps }
    if (subtype === "api_retry") {
      serviceError = textAt(line, "error")
      const status = numberAt(line, "error_status")
      if (claudeErrorCodes[serviceError ?? ""] === "authentication")
        return { steps: [], end: rejectedKeyResult(status), mustStop: true }
      const message = `The service failed${status === undefined ? "" : ` with ${status}`} (${serviceError}); Claude Code tries again.`
      return { steps: [{ type: "warning", code: "cli-retry", message }] }
    }
    if (subtype !== "init") return noSteps
    const { problem, missing } = findToolDrift(textsAt(line, "tools"), settings)
    const version = textAt(line, "claude_code_version")
    const checks = settings.permissions !== "bypass"
    if (problem !== undefined && checks) return { steps: [], end: toolDriftResult(problem, version), mustStop: true }
    const [key, model] = [textAt(line, "session_id"), textAt(line, "model")]
    const steps: Step[] = []
    if (key !== undefined) steps.push({ type: "key", key })
    if (model !== undefined) steps.push({ type: "model", id: model.replace(/\[[^[\]]*\]$/, "") })
    if (missing.length > 0 && checks) {
      const message = `This Claude Code does not have the tools ${missing.join(", ")}.`
      steps.push({ type: "warning", code: "tools-missing", message })
    }
    for (const server of listAt(line, "mcp_servers")) {
      if (textAt(server, "status") !== "failed") continue
      const message = `The MCP server "${textAt(server, "name")}" cannot be reached by Claude Code.`
      steps.push({ type: "warning", code: "mcp-server", message })
    }
    return { steps }
  }

  function streamed(line: JsonObject): ParsedLine {
    const event = objectAt(line, "event")
    const type = textAt(event, "type")
    const within = withinOf(line)
    isStreaming = true
    if (type === "message_start") {
      if (!within.within) tasks.markReported()
      if (!within.within) answer = textAt(event, "message", "id")
      used = addUsage(used, current)
      current = usageOf(objectAt(event, "message", "usage"))
    }
    if (type === "message_delta") {
      const output = numberAt(event, "usage", "output_tokens")
      if (output !== undefined) current = { ...current, output }
      return { steps: [{ type: "usage", usage: addUsage(used, current) }] }
    }
    if (type !== "content_block_delta") return noSteps
    const delta = objectAt(event, "delta")
    const [text, thinking] = [textAt(delta, "text"), textAt(delta, "thinking")]
    const about = { delta: true as const, ...(answer !== undefined && !within.within && { answer }), ...within }
    if (text) return { steps: [{ type: "text", text, ...about }] }
    return thinking ? { steps: [{ type: "reasoning", text: thinking, ...about }] } : noSteps
  }

  function assistant(line: JsonObject): ParsedLine {
    const message = objectAt(line, "message")
    const error = textAt(line, "error")
    // The CLI wrote this message itself, in place of a model.
    if (error !== undefined || textAt(message, "model") === "<synthetic>") {
      serviceError = error ?? serviceError
      const { text } = toolContentOf(valueAt(message, "content"))
      cliMessage = { text, failed: error !== undefined || cliMessage?.failed === true }
      return noSteps
    }
    const within = withinOf(line)
    if (!isStreaming && !within.within) tasks.markReported()
    const id = textAt(message, "id")
    const about = { ...(id !== undefined && { answer: id }), ...within }
    const steps = listAt(message, "content").flatMap((block): Step[] => {
      const [text, thinking] = [textAt(block, "text"), textAt(block, "thinking")]
      if (textAt(block, "type") === "tool_use") {
        const [call = "", name = "", input = {}] = [textAt(block, "id"), textAt(block, "name"), valueAt(block, "input")]
        const file = textAt(input, "file_path") ?? textAt(input, "notebook_path")
        if (file !== undefined && /^(Write|Edit|NotebookEdit)$/.test(name)) changedFiles.set(call, file)
        return [{ type: "call", id: call, name, input, ...about }]
      }
      if (text) return [{ type: "text", text, ...about }]
      return thinking ? [{ type: "reasoning", text: thinking, ...about }] : []
    })
    if (steps.length > 0) hasModelOutput = true
    return { steps }
  }

  function user(line: JsonObject): ParsedLine {
    if (valueAt(line, "isReplay") === true) {
      echoed++
      return noSteps
    }
    const within = withinOf(line)
    const results = listAt(line, "message", "content").filter((block) => textAt(block, "type") === "tool_result")
    return {
      steps: results.flatMap((block): Step[] => {
        const [id = "", ok] = [textAt(block, "tool_use_id"), valueAt(block, "is_error") !== true]
        const file = changedFiles.get(id)
        const content = toolContentOf(valueAt(block, "content"))
        const refused = !ok && content.text === denialText && { refused: true as const }
        const detached = tasks.detachTaskOf(id) && { detached: true as const }
        const result: Step = { type: "result", id, ok, ...content, ...refused, ...detached, ...within }
        return ok && file !== undefined ? [result, { type: "files", paths: [file] }] : [result]
      }),
    }
  }

  function limits(line: JsonObject): ParsedLine {
    const resets = numberAt(line, "rate_limit_info", "resetsAt")
    if (textAt(line, "rate_limit_info", "status") !== "rejected") return noSteps
    serviceError = "rate_limit"
    if (resets !== undefined) retryAt = resets * 1000
    return noSteps
  }

  function result(line: JsonObject): ParsedLine {
    const steps = listAt(line, "permission_denials").map((denial): Step => {
      const message = `Claude Code was not allowed to use ${textAt(denial, "tool_name")}.`
      return { type: "warning", code: "permission-denied", message }
    })
    const output = textAt(line, "result")
    const cost = numberAt(line, "total_cost_usd")
    const total = reportedTotal(line)
    const own = addUsage(usedBefore, usageOf(objectAt(line, "usage")))
    // The total is of the whole conversation; the usage of the line is since the last `result`, without sub-agents.
    const ownUsage = { ...own, ...(cost !== undefined && { costUsd: cost }) }
    const usage = total ? usageBetween(totalBeforeTurn, total) : ownUsage
    const subtype = textAt(line, "subtype") ?? ""
    const failed =
      valueAt(line, "is_error") === true || subtype.startsWith("error") || (cliMessage?.failed && !hasModelOutput)
    if (!failed && echoed > 0 && echoed <= steered) {
      // A steering message came too late for this answer: another answer follows.
      usedBefore = own
      return { steps }
    }
    if (!failed && cliMessage && !hasModelOutput && cliMessage.text !== "")
      steps.push({ type: "text", text: cliMessage.text })
    const done: TurnResult = { usage, ...(output !== undefined && { output }) }
    const running = tasks.running()
    if (!failed && (running.length > 0 || tasks.hasUnreported)) {
      usedBefore = own
      return { steps, background: { end: done, ...backgroundWorkOf(running, backgroundTimeoutMs) } }
    }
    if (!failed) return { steps, end: done }
    const failureText = output ?? (textsAt(line, "errors").join(" ") || subtype)
    const status = numberAt(line, "api_error_status")
    const code = claudeErrorCode(failureText, status === undefined ? serviceError : undefined)
    const until = retryAt ?? parseResetTime(failureText)
    const facts = { ...claudeNames, message: failureText, status, code, retryAt: until }
    // A usage limit of the account has a reset time and no HTTP status.
    const failure = providerFailure(
      until !== undefined && status === undefined ? { ...facts, code: "rate-limited" } : facts,
    )
    return { steps, end: { usage, failure } }
  }

  return {
    read(line) {
      switch (textAt(line, "type")) {
        case "system":
          return system(line)
        case "stream_event":
          return { ...streamed(line), partial: true }
        case "assistant":
          return assistant(line)
        case "user":
          return user(line)
        case "rate_limit_event":
          return limits(line)
        case "control_request":
          return permissionRequestOf(line)
        case "result":
          return result(line)
        default:
          return noSteps
      }
    },
    readExit: (end) => ({ usage: { ...addUsage(used, current), complete: false }, failure: failureOfExit(end) }),
    permissionAnswer: ({ request }, decision) => ({
      type: "control_response",
      response: {
        subtype: "success",
        request_id: valueAt(request, "id") ?? null,
        response: permissionVerdict(request, decision),
      },
    }),
    steeringLine(text) {
      steered++
      return { type: "user", message: { role: "user", content: [{ type: "text", text }] } }
    },
  }

  function failureOfExit(end: Parameters<LineParser["readExit"]>[0]) {
    if (/No conversation found/.test(end.stderr)) {
      return providerFailure({ ...claudeNames, message: end.stderr.trim(), code: "session-not-found" })
    }
    return exitFailure(claudeNames, end, settings)
  }
}

const noSteps: ParsedLine = { steps: [] }

// Shown to the model as the result of the call.
const denialText = "The user did not approve this. Go on without it, or ask."

// The wait if all tasks have ended and Claude Code has yet to report that to its model.
const reportWaitMs = 5000

function backgroundWorkOf(running: readonly string[], maxMs: number): Omit<BackgroundWork, "end"> {
  if (running.length === 0) return { maxMs: reportWaitMs }
  const what = running.map((each) => `"${each}"`).join(", ")
  return {
    maxMs,
    startWarning: `Claude Code has answered, and ${what} goes on in the background: it is waited for, up to ${maxMs} ms (backgroundTimeoutMs).`,
    timeoutWarning: `Claude Code has answered, and ${what} was ended with the turn: it went on for longer than ${maxMs} ms. Raise backgroundTimeoutMs.`,
  }
}

function withinOf(line: JsonObject): { within?: string } {
  const within = textAt(line, "parent_tool_use_id")
  return within === undefined ? {} : { within }
}

function permissionRequestOf(line: JsonObject): ParsedLine {
  if (textAt(line, "request", "subtype") !== "can_use_tool") return noSteps
  const input = valueAt(line, "request", "input") ?? {}
  const permission: PermissionRequest = {
    id: textAt(line, "request", "tool_use_id") ?? textAt(line, "request_id") ?? "",
    name: textAt(line, "request", "tool_name") ?? "",
    input,
    request: { id: valueAt(line, "request_id") ?? null, input },
  }
  return { steps: [], permission }
}

function permissionVerdict(request: PermissionRequest["request"], decision: "allow" | "always" | "deny"): JsonObject {
  if (decision === "deny") return { behavior: "deny", message: denialText }
  return { behavior: "allow", updatedInput: valueAt(request, "input") ?? {} }
}

/** Converts to our usage, whose input includes tokens read from and written to the cache. */
function usageOf(usage: JsonObject): Usage {
  const [plain, output] = [numberAt(usage, "input_tokens"), numberAt(usage, "output_tokens")]
  const cacheRead = numberAt(usage, "cache_read_input_tokens")
  const cacheWrite = numberAt(usage, "cache_creation_input_tokens")
  return {
    complete: plain !== undefined && output !== undefined,
    ...(plain !== undefined && { input: plain + (cacheRead ?? 0) + (cacheWrite ?? 0) }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  }
}
