// The question whether a call is allowed: shows the whole call a screenful at a time, and is answered with one key.
import type { Decision, Run } from "../../core/agent.ts"
import type { EventOf } from "../../core/event.ts"
import { createCallPager } from "../../display/call-pager.ts"
import type { Screen } from "../../display/screen.ts"
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
  event: EventOf<"approval-requested">,
  run: Pick<Run, "pendingCall">,
  screen: Screen & { rows: number },
): ApprovalPrompt {
  const pager = createCallPager(event, run, screen, Math.max(3, screen.rows - 6))
  pager.showNext()
  return {
    id: event.id,
    hint() {
      if (pager.remaining > 0) return `${pager.remaining} more lines of the call: space shows them · n denies it`
      return "Allow this call? y yes · n no · a always"
    },
    press(key) {
      const letter = letterOf(key)
      if (letter === "n") return "deny"
      if (pager.remaining > 0) {
        if (letter === " " || letter === "m") pager.showNext()
        return undefined
      }
      return letter === "y" ? "allow" : letter === "a" ? "always" : undefined
    },
  }
}

/** Enter stands for space, and Escape for no. Pasted text answers nothing. */
function letterOf(key: Key): string {
  if (key.type === "text") return key.text.toLowerCase()
  if (key.type === "paste") return ""
  return key.name === "enter" ? " " : key.name === "escape" ? "n" : ""
}
