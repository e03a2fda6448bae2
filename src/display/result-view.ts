// The `result` display mode: writes only the answer, for pipes. Problems go to the second screen.
import type { AgentEvent } from "../core/event.ts"
import { safeText } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { writeEnd } from "./short-view.ts"

export function createResultView(screen: Screen, run: string, messageScreen: Screen): (event: AgentEvent) => void {
  let startedAt: number | undefined
  return (event) => {
    if (event.run !== run) return
    if (event.type === "run-start") startedAt = event.at
    if (event.type !== "run-end") return
    const output = safeText(event.output).trim()
    if (output) screen.writeLines(output)
    if (event.status !== "done") writeEnd(messageScreen, event, startedAt)
  }
}
