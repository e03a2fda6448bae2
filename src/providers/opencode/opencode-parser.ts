// Parses the JSON lines of one turn of opencode. No line marks the end of a turn; the exit of the process does.
import type { ProviderError } from "../../core/errors.ts"
import { addUsage, cliReportedUsage, noUsage, type Usage } from "../../core/usage.ts"
import type { Step, TurnSettings } from "../provider.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from "../read-json.ts"
import type { LineParser, ParsedLine } from "../turn/json-lines-session.ts"

const opencodeNames = { provider: "opencode", title: "opencode" }

export function createOpencodeParser(
  limits: Pick<TurnSettings, "timeoutMs" | "idleTimeoutMs">,
  now = Date.now,
): LineParser {
  let used: Usage = noUsage
  let error: JsonObject | undefined
  let hasReportedKey = false
  /** True between `step_start` and `step_finish`. */
  let isAnswering = false
  /** The finish reason of the last model call. */
  let reason: string | undefined
  /** opencode reports `unknown` if the stream was cut off. */
  let consecutiveCutOffs = 0

  function readSteps(line: JsonObject): Step[] {
    const part = objectAt(line, "part")
    const answer = textAt(part, "messageID") ?? ""
    const text = textAt(part, "text") ?? ""
    switch (textAt(line, "type")) {
      case "step_start":
        isAnswering = true
        return []
      case "text":
        return text === "" ? [] : [{ type: "text", text, answer }]
      case "reasoning":
        return text === "" ? [] : [{ type: "reasoning", text, answer }]
      case "tool_use":
        consecutiveCutOffs = 0
        return callSteps(part, answer)
      case "step_finish":
        isAnswering = false
        reason = textAt(part, "reason")
        consecutiveCutOffs = reason === "unknown" ? consecutiveCutOffs + 1 : 0
        used = addUsage(used, usageOf(part))
        return [{ type: "usage", usage: used }]
      case "error":
        // The first error names the cause.
        error ??= objectAt(line, "error")
        return []
      default:
        return []
    }
  }

  const incompleteResult = (failure: ProviderError) => ({ usage: { ...used, complete: false }, failure })

  return {
    read(line): ParsedLine {
      const key = hasReportedKey ? undefined : textAt(line, "sessionID")
      hasReportedKey ||= key !== undefined
      const allSteps = [...(key === undefined ? [] : [{ type: "key" as const, key }]), ...readSteps(line)]
      // opencode retries a cut-off answer without limit.
      if (consecutiveCutOffs >= maxConsecutiveCutOffs)
        return { steps: allSteps, end: incompleteResult(cutOffFailure()), mustStop: true }
      return textAt(line, "type") === "step_finish" ? { steps: allSteps, isCalling: false } : { steps: allSteps }
    },
    readLogLine(line) {
      const level = /\blevel=(\w+)/.exec(line)?.[1]
      const kept = level === undefined || level === "WARN" || level === "ERROR"
      // opencode logs the permission check before each call, and `stream` when it asks the model again.
      if (line.includes("message=evaluated permission=")) return { kept, isCalling: true }
      const at = line.indexOf(" message=stream ")
      return at >= 0 && line.includes("small=false", at) ? { kept, isCalling: false } : { kept }
    },
    readExit(end) {
      if (end.stopped === undefined && error) return incompleteResult(failureOfError(error, end.stderr, now()))
      if (end.stopped === undefined && end.exitCode === 0) {
        // No reason: the prompt was a slash command of opencode, which calls no model.
        if (!isAnswering && (reason === undefined || !/^(unknown|tool-calls)$/.test(reason))) return { usage: used }
        return incompleteResult(cutOffFailure())
      }
      const [sessionError] = /^.*session not found.*$/im.exec(end.stderr) ?? []
      if (sessionError === undefined) return incompleteResult(exitFailure(opencodeNames, end, limits))
      return incompleteResult(providerFailure({ ...opencodeNames, message: sessionError, code: "session-not-found" }))
    },
  }
}

const maxConsecutiveCutOffs = 3

function cutOffFailure() {
  const message = "the answer of the model was cut off before its end"
  return providerFailure({ ...opencodeNames, message, code: "connection" })
}

// opencode reports a call only when it has ended.
function callSteps(part: JsonObject, answer: string): Step[] {
  const [id = "", name = ""] = [textAt(part, "callID"), textAt(part, "tool")]
  const state = objectAt(part, "state")
  const ok = textAt(state, "status") === "completed"
  const text = ok ? (textAt(state, "output") ?? "") : (textAt(state, "error") ?? textAt(state, "output") ?? "")
  const refused = !ok && /rule which prevents|rejected permission|permission denied/i.test(text)
  const steps: Step[] = [
    { type: "call", id, name, input: valueAt(state, "input") ?? {}, answer },
    { type: "result", id, ok, text, ...(refused && { refused: true as const }) },
  ]
  const path = textAt(state, "input", "filePath")
  if (ok && path !== undefined && (name === "edit" || name === "write")) steps.push({ type: "files", paths: [path] })
  return steps
}

function usageOf(part: JsonObject): Usage {
  const tokens = objectAt(part, "tokens")
  const [uncachedInput, visibleOutput] = [numberAt(tokens, "input"), numberAt(tokens, "output")]
  if (uncachedInput === undefined || visibleOutput === undefined) return { complete: false }
  const [cacheRead, cacheWrite] = [numberAt(tokens, "cache", "read") ?? 0, numberAt(tokens, "cache", "write") ?? 0]
  const [reasoning, cost] = [numberAt(tokens, "reasoning") ?? 0, numberAt(part, "cost")]
  return cliReportedUsage({
    complete: true,
    input: uncachedInput + cacheRead + cacheWrite,
    output: visibleOutput + reasoning,
    cacheRead,
    cacheWrite,
    reasoning,
    // opencode reports 0 for models without a known price.
    ...(cost && { costUsd: cost }),
  })
}

function failureOfError(error: JsonObject, stderr: string, now: number) {
  const data = objectAt(error, "data")
  const message = textAt(data, "message") ?? textAt(error, "message") ?? textAt(error, "name") ?? "it failed"
  const seconds = Number(textAt(data, "responseHeaders", "retry-after") ?? Number.NaN)
  return providerFailure({
    ...opencodeNames,
    message,
    status: numberAt(data, "statusCode"),
    ...(/ConnectionRefused|ECONNREFUSED|Unable to connect/i.test(message) && { code: "connection" as const }),
    ...(textAt(error, "name") === "ProviderAuthError" && { code: "authentication" as const }),
    ...(Number.isFinite(seconds) && { retryAt: now + seconds * 1000 }),
    stderr: stderr.trim(),
  })
}
