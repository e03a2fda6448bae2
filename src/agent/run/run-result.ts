// The result of a run: from its final state, and as changed by the `afterRun` hooks.
import type { HookContext, Hooks } from "../../actions/hooks.ts"
import { runAfterRun } from "../../actions/run-hooks.ts"
import type { Completion, RunResult } from "../../core/agent.ts"
import { abortDetail, errorData, isAbortError } from "../../core/errors.ts"
import type { AgentEvent, Pending, StopReason } from "../../core/event.ts"
import type { Message } from "../../core/message.ts"
import type { RunBodyResult } from "../../core/run.ts"
import { trajectory } from "../../core/trajectory.ts"
import { noUsage } from "../../core/usage.ts"
import { todosIn } from "../../tools/todo-list.ts"
import { userState } from "../../tools/tool-state.ts"
import { writtenFiles } from "../../tools/written-files.ts"
import type { AgentResult } from "../outputs.ts"
import type { RunState } from "./run-state.ts"

/** Creates a result, still without its messages and trajectory. */
export function createResult(id: string, state: RunState, failure: unknown): AgentResult {
  const { end, output, cycle: cycles, usage } = state
  const status = end?.status ?? "failed"
  const reason: StopReason | undefined = end?.status === "stopped" ? end.reason : undefined
  const pending: Pending | undefined = end?.status === "waiting" ? end.pending : undefined
  const error = end?.status === "failed" ? { ...end.error, cause: failure } : undefined
  const files = (end?.status === "done" ? end.files : undefined) ?? writtenFiles(state.tools)
  return {
    id,
    status,
    output,
    cycles,
    usage,
    messages: [],
    trajectory: trajectory([]),
    completion: completionOf(end),
    state: Object.freeze(userState(state.tools)),
    todos: todosIn(state.tools),
    ...(files.length > 0 && { files }),
    ...(reason && { reason }),
    ...(end?.status === "stopped" && end.detail !== undefined && { detail: end.detail }),
    ...(end?.status === "aborted" && abortDetail(failure)),
    ...(pending && { pending }),
    ...(error && { error }),
  }
}

/** Applies the `afterRun` hooks to a result. */
export async function applyAfterRunHooks(
  result: RunResult,
  messages: readonly Message[],
  hooks: readonly Hooks[],
  context: HookContext,
): Promise<void> {
  if (!hooks.some((hook) => hook.afterRun)) return
  const { status, output, reason, pending, error, cycles, usage } = result
  const end = { status, output, reason, pending, error, cycles, usage, messages: messages.slice() }
  const change = await runAfterRun(end, hooks, context)
  if (!change) return
  if ("output" in change) {
    result.output = change.output
    return
  }
  result.output = ""
  result.detail = change.stop
  // A failed or aborted run stays so, with an empty output.
  if (status === "failed" || status === "aborted") return
  result.status = "stopped"
  result.reason = change.reason ?? "hook"
  result.completion = { by: "hook" }
  delete result.pending
  delete result.files
}

/** Turns a result into a failure and removes its output. */
export function markResultFailed(result: RunResult, failure: unknown): void {
  Object.assign(result, { status: "failed", output: "", completion: { by: "failure" } })
  result.error = { ...errorData(failure), cause: failure }
  delete result.reason
  delete result.pending
  delete result.files
}

function completionOf(end: RunState["end"]): Completion {
  switch (end?.status) {
    case "done":
      if (end.handedTo !== undefined) return { by: "handoff", agent: end.handedTo, ...(end.tool && { tool: end.tool }) }
      return end.tool === undefined ? { by: "answer" } : { by: "tool", tool: end.tool }
    case "waiting":
      return end.tool === undefined ? { by: "question" } : { by: "question", tool: end.tool }
    case "stopped":
      return { by: end.reason === "hook" || end.reason === "guardrail" ? "hook" : "limit" }
    case "aborted":
      return { by: "abort" }
    default:
      return { by: "failure" }
  }
}

/** Returns the outcome of a run that could not begin, or that failed outside of its loop. */
export function brokenOutcome(id: string, error: unknown, events: AgentEvent[]): RunBodyResult {
  const aborted = isAbortError(error)
  const record = trajectory(events)
  const result: RunResult = {
    id,
    status: aborted ? "aborted" : "failed",
    completion: { by: aborted ? "abort" : "failure" },
    output: "",
    cycles: 0,
    usage: noUsage,
    messages: record.messages,
    trajectory: record,
    state: {},
    todos: [],
    ...(aborted ? abortDetail(error) : { error: { ...errorData(error), cause: error } }),
  }
  return { result, error }
}
