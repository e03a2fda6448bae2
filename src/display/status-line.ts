// Updates the status line: what the run waits for, for how long, the tokens used, and the latest output.
import type { AgentEvent } from "../core/event.ts"
import { addUsage, noUsage } from "../core/usage.ts"
import { formatSeconds, usageTexts } from "./event-text.ts"
import { safeLine } from "./safe-text.ts"
import type { Screen } from "./screen.ts"

export function createStatusLine(screen: Screen, run: string): (event: AgentEvent) => void {
  let usage = noUsage
  let latest = ""
  let isRetrying = false

  function waitFor(activity: string): void {
    const since = Date.now()
    latest = ""
    isRetrying = false
    screen.setStatus(() =>
      [activity, formatSeconds(Date.now() - since), ...usageTexts(usage), latest].filter(Boolean).join(" · "),
    )
  }

  return (event) => {
    if (event.run !== run) return
    switch (event.type) {
      case "cycle-start":
        return waitFor("thinking")
      case "warning-raised":
        if (event.code !== "model-retried") return
        waitFor(safeLine(event.message))
        isRetrying = true
        return
      case "reasoning-delta":
        if (isRetrying) waitFor("thinking")
        latest = safeLine(latest + event.text).slice(-60)
        return
      case "message-end": {
        usage = addUsage(usage, event.usage)
        const acts = event.message.parts.some((part) => part.type === "code" || part.type === "tool-call")
        return waitFor(acts ? "running" : "thinking")
      }
      case "tool-start":
        return waitFor(`running ${safeLine(event.name)}`)
      case "approval-resolved":
        return waitFor("running")
      case "code-delta":
      case "tool-delta":
        if (event.type === "tool-delta" || event.of !== "source") latest = lastLine(event.text) || latest
        return
      case "memory-compacted":
        usage = addUsage(usage, event.usage)
        return
      case "run-end":
        return screen.setStatus(undefined)
    }
  }
}

function lastLine(text: string): string {
  return safeLine(text.trimEnd().split("\n").at(-1) ?? "").slice(0, 60)
}
