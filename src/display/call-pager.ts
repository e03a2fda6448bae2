// Shows a whole call that needs approval, a screenful at a time.
import type { Run } from "../core/agent.ts"
import type { EventOf } from "../core/event.ts"
import { callText } from "./event-text.ts"
import { safeLine, safeText } from "./safe-text.ts"
import type { Screen } from "./screen.ts"
import { writeWrapped } from "./stream-writers.ts"
import { wrapText } from "./text-flow.ts"

export interface CallPager {
  /** How many lines were not shown yet. */
  readonly remaining: number
  showNext(): void
}

/** Writes the first line of the call with the reason. The other lines are written by `showNext`, at most `size` at a
 *  time. */
export function createCallPager(
  { id, call, reason }: EventOf<"approval-requested">,
  run: Pick<Run, "pendingCall">,
  screen: Screen,
  size: number,
): CallPager {
  const { paint } = screen
  const fullCall = run.pendingCall(id)
  const [first = "", ...rest] = fullCall === undefined ? [callText(call)] : safeText(fullCall).split("\n")
  const why = { text: reason === undefined ? "" : ` · ${safeLine(reason)}`, paint: paint.dim }
  writeWrapped(screen, { mark: "  ? ", paintMark: paint.yellow }, { text: first, paint: paint.bold }, why)
  const lines = rest.flatMap((line) => wrapText(line, Math.max(20, screen.columns - 4)))
  let shown = 0
  return {
    get remaining() {
      return lines.length - shown
    },
    showNext() {
      const page = lines.slice(shown, shown + size)
      shown += page.length
      screen.writeLines(...page.map((line) => `    ${line}`))
    },
  }
}
