import type { AgentEvent } from "../core/event.ts"
import { addUsage, noUsage } from "../core/usage.ts"
import { formatSeconds, tokensText } from "./event-text.ts"
import { safeLine } from "./safe-text.ts"
import type { Screen } from "./screen.ts"

/** Keeps the status line true: what the run waits for, since when, the tokens so far, and the latest sign of life. */
export function createStatusLine(screen: Screen, run: string): (event: AgentEvent) => void {
  let usage = noUsage
  let sign = ""

  function waitFor(doing: string): void {
    const since = Date.now()
    sign = ""
    screen.setStatus(() =>
      [doing, formatSeconds(Date.now() - since), tokensText(usage), sign].filter(Boolean).join(" · "),
    )
  }

  return (event) => {
    if (event.run !== run) return
    switch (event.type) {
      case "cycle-start":
        return waitFor("thinking")
      case "reasoning-delta":
        sign = safeLine(sign + event.text).slice(-60)
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
        if (event.type === "tool-delta" || event.of !== "source") sign = lastLine(event.text) || sign
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
