// Writes one short line per important event of a run to a logger.
import type { AgentEvent } from "../core/event.ts"
import { messageText } from "../core/message.ts"

/** Gets one line for each important event. */
export interface Logger {
  info(line: string): void
  warn(line: string): void
  error(line: string): void
}

/** Returns a listener that writes events to the logger, cut to one line each; deltas and raw lines are skipped. */
export function createEventLogger(logger: Logger): (event: AgentEvent) => void {
  const startTimes = new Map<string, number>()
  return (event) => {
    if (event.type === "run-start") startTimes.set(event.run, event.at)
    const tookMs = event.at - (startTimes.get(event.run) ?? event.at)
    if (event.type === "run-end") startTimes.delete(event.run)
    for (const { level, line } of [logLinesOf(event, tookMs) ?? []].flat()) {
      logger[level](shortLine(event.parent === undefined ? line : `  ${line}`))
    }
  }
}

interface LogLine {
  level: keyof Logger
  line: string
}

function logLinesOf(event: AgentEvent, tookMs: number): LogLine | LogLine[] | undefined {
  switch (event.type) {
    case "run-start":
      return info(`user ${event.messages.map(messageText).join(" ")}`)
    case "message-end": {
      const of = (type: "text" | "reasoning") =>
        event.message.parts.flatMap((part) => (part.type === type ? [part.text] : [])).join(" ")
      const [thinking, text] = [of("reasoning"), of("text")]
      return [
        ...(thinking === "" ? [] : [info(`thinking ${thinking}`)]),
        ...(text === "" ? [] : [info(`assistant ${text}`)]),
      ]
    }
    case "tool-start":
      return info(`tool_call ${event.name} ${JSON.stringify(event.input)}`)
    case "tool-end":
      if (event.ok) return info(`tool_result ${event.name} (${seconds(event.durationMs)}) → ${event.text}`)
      return { level: "warn", line: `tool_error ${event.name} (${seconds(event.durationMs)}) → ${event.text}` }
    case "approval-requested":
      return info(`approval ${event.call.binding} ${event.call.args}`)
    case "provider-changed":
      return { level: "warn", line: `provider ${event.from} → ${event.to}: ${event.reason}` }
    case "limit-waiting":
      return { level: "warn", line: `waiting until ${new Date(event.until).toISOString()}: ${event.reason}` }
    case "warning-raised":
      return { level: "warn", line: `warning ${event.code}: ${event.message}` }
    case "run-end": {
      const { input = "?", output = "?", costUsd } = event.usage
      const cost = costUsd === undefined ? "" : ` cost=$${costUsd.toFixed(4)}`
      const error = event.error ? ` ${event.error.message}` : ""
      const line = `turn_end ${event.status} (${seconds(tookMs)}) tokens=${input}in/${output}out${cost}${error}`
      return { level: event.status === "failed" ? "error" : "info", line }
    }
    default:
      return undefined
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`
}

function info(line: string) {
  return { level: "info" as const, line }
}

const maxLineChars = 200

function shortLine(line: string): string {
  const flat = line.replace(/(?<!\s)\s*\n\s*/g, " ")
  return flat.length > maxLineChars ? `${flat.slice(0, maxLineChars - 1)}…` : flat
}
