import type { AgentEvent } from "../core/event.ts"
import { messageText } from "../core/message.ts"

/** Where one line goes for each thing that matters. */
export interface Logger {
  info(line: string): void
  warn(line: string): void
  error(line: string): void
}

/** Tells a logger of events: one line each, cut short; deltas and raw lines are left out. */
export function logTo(logger: Logger): (event: AgentEvent) => void {
  return (event) => {
    const told = lineOf(event)
    if (told) logger[told.level](short(event.parent === undefined ? told.line : `  ${told.line}`))
  }
}

function lineOf(event: AgentEvent): { level: keyof Logger; line: string } | undefined {
  switch (event.type) {
    case "run-start":
      return info(`user ${event.messages.map(messageText).join(" ")}`)
    case "message-end": {
      const text = messageText({ ...event.message, parts: event.message.parts.filter((part) => part.type === "text") })
      return text === "" ? undefined : info(`assistant ${text}`)
    }
    case "tool-start":
      return info(`tool_call ${event.name} ${JSON.stringify(event.input)}`)
    case "tool-end":
      if (event.ok) return info(`tool_result ${event.name} → ${event.text}`)
      return { level: "warn", line: `tool_error ${event.name} → ${event.text}` }
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
      const line = `turn_end ${event.status} tokens=${input}in/${output}out${cost}${error}`
      return { level: event.status === "failed" ? "error" : "info", line }
    }
    default:
      return undefined
  }
}

function info(line: string) {
  return { level: "info" as const, line }
}

const longest = 200

function short(line: string): string {
  const flat = line.replace(/(?<!\s)\s*\n\s*/g, " ")
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat
}
