// The question whether a call is allowed: shows the whole call a screenful at a time, and is answered with one key.
import type { Decision, Run } from "../../core/agent.ts"
import type { EventOf } from "../../core/event.ts"
import { callText } from "../../display/event-text.ts"
import { safeLine, safeText } from "../../display/safe-text.ts"
import type { Screen } from "../../display/screen.ts"
import { writeWrapped } from "../../display/stream-writers.ts"
import { wrapText } from "../../display/text-flow.ts"
import type { Key } from "./keys.ts"

export interface ApprovalPrompt {
  readonly id: string
  /** The line that says which keys answer. */
  hint(): string
  /** Returns the decision; undefined if the key answers nothing. Yes and always count only after the whole call was
   *  shown. */
  press(key: Key): Decision | undefined
}

/** Writes the call and returns the question about it. */
export function askForApproval(
  { id, call, reason }: EventOf<"approval-requested">,
  run: Pick<Run, "pendingCall">,
  screen: Screen & { rows: number },
): ApprovalPrompt {
  const { paint } = screen
  const fullCall = run.pendingCall(id)
  const [first = "", ...rest] = fullCall === undefined ? [callText(call)] : safeText(fullCall).split("\n")
  const why = { text: reason === undefined ? "" : ` · ${safeLine(reason)}`, paint: paint.dim }
  const lines = rest.flatMap((line) => wrapText(line, screen.columns - 4))
  const page = Math.max(3, screen.rows - 6)
  let shown = 0
  const showPage = () => {
    screen.writeLines(...lines.slice(shown, shown + page).map((line) => `    ${line}`))
    shown = Math.min(lines.length, shown + page)
  }
  writeWrapped(screen, { mark: "  ? ", paintMark: paint.yellow }, { text: first, paint: paint.bold }, why)
  showPage()
  return {
    id,
    hint() {
      const left = lines.length - shown
      if (left > 0) return `${left} more lines of the call: space shows them · n denies it`
      return "Allow this call? y yes · n no · a always"
    },
    press(key) {
      if (key.type === "key" && key.name === "escape") return "deny"
      const letter =
        key.type === "text" ? key.text.toLowerCase() : key.type === "key" && key.name === "enter" ? " " : ""
      if (letter === "n") return "deny"
      if (shown < lines.length) {
        if (letter === " " || letter === "m") showPage()
        return undefined
      }
      return letter === "y" ? "allow" : letter === "a" ? "always" : undefined
    },
  }
}
