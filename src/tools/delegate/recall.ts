import type { RunResult } from "../../core/agent.ts"
import type { AgentEvent } from "../../core/event.ts"
import { trajectory } from "../../core/trajectory.ts"
import type { ToolState } from "../tool.ts"

type Events = () => readonly AgentEvent[]

const logs = new WeakMap<ToolState, Events>()

/** Lets sub-tasks that an earlier process knew be found in the log of their conversation. */
export function letRecall(state: ToolState, events: Events): void {
  logs.set(state, events)
}

/** What a run of a sub-agent came to, as far as the log tells; undefined where it tells of no end. */
export function recalled(state: ToolState, run: string): RunResult | undefined {
  const record = trajectory(withThoseBelow(logs.get(state)?.() ?? [], run))
  const [own] = record.runs
  if (own?.status === undefined) return undefined
  const { status, output = "", cycles, usage, pending } = own
  return {
    id: run,
    status,
    output,
    completion: { by: status === "waiting" ? "question" : "answer" },
    cycles,
    usage,
    messages: record.messages,
    trajectory: record,
    ...(pending && { pending }),
  }
}

function withThoseBelow(events: readonly AgentEvent[], run: string): AgentEvent[] {
  const runs = new Set([run])
  return events.filter((event) => {
    if (event.parent !== undefined && runs.has(event.parent)) runs.add(event.run)
    return runs.has(event.run)
  })
}
