// Builds the result of a stored run from its head, its events and the messages of the conversation.
import type { AgentResult } from "../agent/outputs.ts"
import { createResult } from "../agent/run/run-result.ts"
import { createRunState } from "../agent/run/run-state.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Message } from "../core/message.ts"
import { trajectory } from "../core/trajectory.ts"
import { damagedRunError, type RunHead } from "./checkpoint.ts"

export function resultFromStored(
  { id, status: stored, state = createRunState(), failedWith, pending }: RunHead,
  events: readonly AgentEvent[],
  messages: Message[],
): AgentResult {
  const record = trajectory(events)
  const result = createResult(id, failedWith ? { ...state, tools: failedWith.tools } : state, undefined)
  result.messages = messages
  result.trajectory = record
  const end = events.findLast((event) => event.type === "run-end" && event.run === id)
  if (end?.type !== "run-end") {
    if (stored !== "waiting") throw damagedRunError(id, `it is ${stored}, and its log has no end`)
    return { ...result, status: "waiting", completion: { by: "question" }, ...(pending && { pending }) }
  }
  const { status, output, cycles, usage, reason, detail, error } = end
  Object.assign(result, { status, output, cycles, usage }, reason && { reason }, detail !== undefined && { detail })
  delete result.error
  delete result.pending
  if (error) result.error = error
  if (status === "aborted") result.completion = { by: "abort" }
  return result
}
