import type { AgentResult } from "../agent/outputs.ts"
import { resultOf } from "../agent/result.ts"
import { initialState } from "../agent/state.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { trajectory } from "../core/trajectory.ts"
import { damagedRun, type Head } from "./checkpoint.ts"

/** What a run came to, from its own events and the messages of the conversation. */
export function resultFrom(
  { id, status: stored, state = initialState(), failedWith, pending }: Head,
  events: readonly AgentEvent[],
  messages: Message[],
): AgentResult {
  const record = trajectory(events)
  const result = resultOf(id, failedWith ? { ...state, tools: failedWith.tools } : state, undefined)
  result.messages = messages
  result.trajectory = record
  const end = events.findLast((event) => event.type === "run-end" && event.run === id)
  if (end?.type !== "run-end") {
    if (stored !== "waiting") throw damagedRun(id, `it is ${stored}, and its log has no end`)
    return { ...result, status: "waiting", completion: { by: "question" }, ...(pending && { pending }) }
  }
  const { status, output, cycles, usage, reason, detail, error } = end
  Object.assign(result, {
    status,
    output,
    cycles,
    usage,
    ...(reason && { reason }),
    ...(detail !== undefined && { detail }),
  })
  delete result.error
  delete result.pending
  if (error) result.error = error
  if (status === "aborted") result.completion = { by: "abort" }
  return result
}
