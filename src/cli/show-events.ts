// Shows stored events of runs in the terminal, as `display` shows a run.
import type { AgentEvent } from "../core/event.ts"
import { createOwnEventFilter } from "../core/trajectory.ts"
import { createFullView } from "../display/full-view.ts"
import { wantsColor } from "../display/paint.ts"
import { createScreen } from "../display/screen.ts"

/** Returns a function that shows one event after the other, of any number of runs. */
export function createEventViewer(): (event: AgentEvent) => void {
  const screen = createScreen(process.stdout, { color: wantsColor(process.stdout) })
  const isOwn = createOwnEventFilter()
  let show: ((event: AgentEvent) => void) | undefined
  return (event) => {
    if (isOwn(event) && event.type === "run-start") show = createFullView(screen, event.run)
    show?.(event)
  }
}
