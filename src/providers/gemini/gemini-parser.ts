// Parses the JSON lines that Gemini CLI writes during one turn.
import { cliReportedUsage, type Usage } from "../../core/usage.ts"
import type { Step, TurnSettings } from "../provider.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from "../read-json.ts"
import type { CliProcessEnd } from "../turn/cli-process.ts"
import type { LineParser } from "../turn/json-lines-session.ts"

const geminiNames = { provider: "gemini", title: "Gemini CLI" }

export function createGeminiParser(
  limits: Pick<TurnSettings, "timeoutMs" | "idleTimeoutMs" | "reasoning">,
): LineParser {
  /** The text since the last call; Gemini CLI writes only pieces of it. */
  let pendingText = ""
  const changes = new Map<string, string>()

  function flushText(): Step[] {
    const text = pendingText
    pendingText = ""
    return text === "" ? [] : [{ type: "text", text }]
  }

  function steps(line: JsonObject): Step[] {
    const id = textAt(line, "tool_id") ?? ""
    switch (textAt(line, "type")) {
      case "init":
        return [...initSteps(line), ...(limits.reasoning === undefined ? [] : [reasoningIgnoredWarning])]
      case "message": {
        const text = textAt(line, "content") ?? ""
        if (textAt(line, "role") !== "assistant" || text === "") return []
        pendingText += text
        return [{ type: "text", text, delta: true }]
      }
      case "tool_use": {
        const [name = "", path] = [textAt(line, "tool_name"), textAt(line, "parameters", "file_path")]
        if (path !== undefined && (name === "write_file" || name === "replace")) changes.set(id, path)
        return [...flushText(), { type: "call", id, name, input: valueAt(line, "parameters") ?? {} }]
      }
      case "tool_result":
        return resultSteps(line, id)
      case "error":
        return [{ type: "warning", code: "gemini", message: textAt(line, "message") ?? "unknown" }]
      default:
        return []
    }
  }

  function resultSteps(line: JsonObject, id: string): Step[] {
    const ok = textAt(line, "status") === "success"
    const text = textAt(line, "output") ?? textAt(line, "error", "message") ?? ""
    const path = changes.get(id)
    const refused = !ok && textAt(line, "error", "type") === "policy_violation"
    return [
      { type: "result", id, ok, text, ...(refused && { refused: true as const }) },
      ...(ok && path !== undefined ? [{ type: "files" as const, paths: [path] }] : []),
    ]
  }

  return {
    read(line) {
      if (textAt(line, "type") !== "result") return { steps: steps(line) }
      const usage = usageOf(objectAt(line, "stats"))
      if (textAt(line, "status") === "success") return { steps: flushText(), end: { usage } }
      const message = textAt(line, "error", "message") ?? "the turn failed"
      const failure = providerFailure({ ...geminiNames, ...parseFailure(message) })
      return { steps: flushText(), end: { usage, failure } }
    },
    readExit: (end) => ({ usage: { complete: false }, failure: failureOfExit(end, limits) }),
  }
}

const reasoningIgnoredWarning: Step = {
  type: "warning",
  code: "cli-option",
  message: "Gemini CLI does not take how hard to think: `reasoning` has no effect.",
}

function initSteps(line: JsonObject): Step[] {
  const [key, id] = [textAt(line, "session_id"), textAt(line, "model")]
  return [
    ...(key === undefined ? [] : [{ type: "key" as const, key }]),
    ...(id === undefined ? [] : [{ type: "model" as const, id }]),
  ]
}

// Reasoning tokens are only included in the total.
function usageOf(stats: JsonObject): Usage {
  const [input, output, total] = ["input_tokens", "output_tokens", "total_tokens"].map((name) => numberAt(stats, name))
  if (input === undefined || output === undefined) return { complete: false }
  const reasoning = Math.max(0, (total ?? input + output) - input - output)
  const cacheRead = numberAt(stats, "cached") ?? 0
  return cliReportedUsage({ complete: true, input, output: output + reasoning, cacheRead, reasoning })
}

/** Reads the status of the service's answer, which the error message contains. */
function parseFailure(message: string): { message: string; status?: number; code?: "connection" } {
  const status = Number(/"code":\s*(\d{3})\b/.exec(message)?.[1] ?? Number.NaN)
  if (!Number.isNaN(status)) return { message, status }
  return /fetch failed|ECONNREFUSED|ENOTFOUND/i.test(message) ? { message, code: "connection" } : { message }
}

function failureOfExit(end: CliProcessEnd, limits: Pick<TurnSettings, "timeoutMs" | "idleTimeoutMs">) {
  const retried = [...end.stderr.matchAll(/^.*failed with status (\d{3}).*$/gim)].at(-1)
  // Gemini CLI retries for minutes and reports that only on standard error, which explains an idle time-out.
  if (retried && end.stopped !== "timeout") {
    const [message, status] = retried
    return providerFailure({ ...geminiNames, message, status: Number(status), stderr: end.stderr.trim() })
  }
  if (end.stopped !== undefined || end.error) return exitFailure(geminiNames, end, limits)
  const [lost] =
    /^.*(?:invalid session identifier|no previous sessions|session .{0,200}?not found).*$/im.exec(end.stderr) ?? []
  if (lost !== undefined) return providerFailure({ ...geminiNames, message: lost, code: "session-not-found" })
  const [denied] = /^.*(?:auth method|GEMINI_API_KEY|API key|login).*$/im.exec(end.stderr) ?? []
  if (denied !== undefined && end.exitCode === 41) {
    return providerFailure({ ...geminiNames, message: denied, code: "authentication" })
  }
  return exitFailure(geminiNames, end, limits)
}
