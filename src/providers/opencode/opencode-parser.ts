import { addUsage, cliReportedUsage, noUsage, type Usage } from "../../core/usage.ts"
import type { Step, TurnSettings } from "../provider.ts"
import { exitFailure, providerFailure } from "../provider-failure.ts"
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from "../read-json.ts"
import type { LineParser, ParsedLine } from "../turn/json-lines-session.ts"

const opencodeNames = { provider: "opencode", title: "opencode" }

/** Reads the stream of one turn of opencode. It has no last line: a turn is over when its process is. */
export function createOpencodeParser(
  limits: Pick<TurnSettings, "timeoutMs" | "idleTimeoutMs">,
  now = Date.now,
): LineParser {
  let used: Usage = noUsage
  let error: JsonObject | undefined
  let keyTold = false
  /** Whether an answer is under way, and why the last one ended. */
  let isAnswering = false
  let reason: string | undefined
  /** Answers without an end, one after the other. */
  let cut = 0

  function steps(line: JsonObject): Step[] {
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
        cut = 0
        return callSteps(part, answer)
      case "step_finish":
        isAnswering = false
        reason = textAt(part, "reason")
        cut = reason === "unknown" ? cut + 1 : 0
        used = addUsage(used, usageOf(part))
        return [{ type: "usage", usage: used }]
      case "error":
        // Of several, the first says why.
        error ??= objectAt(line, "error")
        return []
      default:
        return []
    }
  }

  return {
    read(line): ParsedLine {
      const key = keyTold ? undefined : textAt(line, "sessionID")
      keyTold ||= key !== undefined
      const told = [...(key === undefined ? [] : [{ type: "key" as const, key }]), ...steps(line)]
      // It would ask for the rest of such an answer for ever.
      if (cut >= maxCutAnswers)
        return { steps: told, end: { usage: { ...used, complete: false }, failure: cutOffFailure() }, mustStop: true }
      return textAt(line, "type") === "step_finish" ? { steps: told, isCalling: false } : { steps: told }
    },
    readLogLine(line) {
      const level = /\blevel=(\w+)/.exec(line)?.[1]
      const kept = level === undefined || level === "WARN" || level === "ERROR"
      // Each call is checked against the permissions before it begins; then the model is asked again.
      if (line.includes("message=evaluated permission=")) return { kept, calls: true }
      const at = line.indexOf(" message=stream ")
      return at >= 0 && line.includes("small=false", at) ? { kept, calls: false } : { kept }
    },
    readExit(end) {
      if (end.stopped === undefined && error) {
        return { usage: { ...used, complete: false }, failure: failureOfError(error, end.stderr, now()) }
      }
      if (end.stopped === undefined && end.exitCode === 0) {
        // One that was never asked anything has nothing to answer: a command of its own.
        if (!isAnswering && (reason === undefined || !/^(unknown|tool-calls)$/.test(reason))) return { usage: used }
        return { usage: { ...used, complete: false }, failure: cutOffFailure() }
      }
      const usage = { ...used, complete: false }
      const [unknown] = /^.*session not found.*$/im.exec(end.stderr) ?? []
      if (unknown !== undefined) {
        return { usage, failure: providerFailure({ ...opencodeNames, message: unknown, code: "session-not-found" }) }
      }
      return { usage, failure: exitFailure(opencodeNames, end, limits) }
    },
  }
}

const maxCutAnswers = 3

function cutOffFailure() {
  return providerFailure({
    ...opencodeNames,
    message: "the answer of the model was cut off before its end",
    code: "connection",
  })
}

// It tells of a call when that is over.
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
  const [plain, written, cost] = [numberAt(tokens, "input"), numberAt(tokens, "output"), numberAt(part, "cost")]
  if (plain === undefined || written === undefined) return { complete: false }
  const [cacheRead, cacheWrite] = [numberAt(tokens, "cache", "read") ?? 0, numberAt(tokens, "cache", "write") ?? 0]
  const reasoning = numberAt(tokens, "reasoning") ?? 0
  return cliReportedUsage({
    complete: true,
    input: plain + cacheRead + cacheWrite,
    output: written + reasoning,
    cacheRead,
    cacheWrite,
    reasoning,
    // It says 0 of models whose price it does not know.
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
