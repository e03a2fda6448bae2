import { rejectOnAbort } from "../core/abort.ts"
import type { RunResult } from "../core/agent.ts"
import { abortDetail, errorData, isAbortError } from "../core/errors.ts"
import type { AgentEvent, EventBody } from "../core/event.ts"
import type { UserMessage } from "../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent } from "../core/run.ts"
import type { WaitForTurn } from "../core/run-queue.ts"
import { trajectory } from "../core/trajectory.ts"
import { noUsage } from "../core/usage.ts"
import type { CliConversation } from "./cli-conversation.ts"
import type { CliConfig } from "./options.ts"
import type { Provider, TurnResult } from "./provider.ts"
import { createPromptSender, type PromptSender } from "./turn/prompt-sender.ts"
import { sendWaitingForLimits } from "./usage-limits.ts"

export interface CliRunSetup {
  provider: Provider
  config: CliConfig
  prompt: UserMessage
  openConversation(): Promise<CliConversation>
  /** Waits for the run's turn in its session. */
  waitForTurn?: WaitForTurn | undefined
  /** Called when it never came to have its conversation. */
  onAbandoned?: (() => void) | undefined
  /** Called when it is over, with what it was part of. */
  onEnded?: ((result: RunResult, conversation: CliConversation) => Promise<void>) | undefined
}

/** One prompt to a CLI, from its `run-start` to its `run-end`. */
export async function runCli(control: RunControl, place: CliRunSetup): Promise<RunBodyResult> {
  const { config, prompt } = place
  let shared: CliConversation
  try {
    await place.waitForTurn?.(control.signal)
    shared = await rejectOnAbort(place.openConversation(), control.signal)
  } catch (error) {
    place.onAbandoned?.()
    // The conversation never hears of it, whoever watches the run does.
    const start = control.emit({ type: "run-start", agent: config.name, messages: [prompt], metadata: config.metadata })
    return unstartedOutcome(control.id, control.signal.aborted ? abortError(control.signal) : error, [start])
  }
  const firstEvent = shared.events.length
  if (shared.runtime) control.setRuntime(shared.runtime)
  control.setRecorder(shared.record)
  control.emit(runStartEvent(place, shared))
  for (const message of shared.warnings.splice(0)) control.emit({ type: "warning-raised", code: "resumed", message })
  const work = createPromptSender(control, place, shared)
  let end: TurnResult
  let failure: unknown
  try {
    await shared.save?.(false)
    end = await sendWaitingForLimits(work.send, control, config.autoWait)
    failure = end.failure
  } catch (error) {
    failure = error
    end = { usage: { ...work.used(), complete: false } }
  }
  work.stop()
  shared.pendingSteering.push(...control.takeSteered())
  await control.endChildRuns()
  control.spend(end.usage)
  const result = createRunResult(control, work, end.output, failure)
  // The last event belongs to the record too, so it is emitted here and not left to the run.
  control.emit(runEndEvent(result))
  await shared.save?.(true)
  result.messages = shared.messages.slice()
  result.trajectory = trajectory(shared.events.slice(firstEvent))
  await place.onEnded?.(result, shared)
  if (result.status === "aborted") return { result, error: abortError(control.signal) }
  return result.status === "failed" ? { result, error: failure } : { result }
}

/** The result of a run that never came to its CLI. */
export function unstartedOutcome(id: string, error: unknown, events: AgentEvent[]): RunBodyResult {
  const aborted = isAbortError(error)
  return {
    error,
    result: {
      id,
      status: aborted ? "aborted" : "failed",
      output: "",
      completion: { by: aborted ? "abort" : "failure" },
      cycles: 0,
      usage: noUsage,
      messages: [],
      trajectory: trajectory(events),
      ...(aborted ? abortDetail(error) : { error: { ...errorData(error), cause: error } }),
    },
  }
}

function runStartEvent({ config, prompt }: CliRunSetup, shared: CliConversation): EventBody {
  const { model, instructions, systemPrompt } = config.settings
  const system = [systemPrompt, instructions].filter(Boolean).join("\n\n")
  const isNew = shared.system !== system
  shared.system = system
  return {
    type: "run-start",
    agent: config.name,
    ...(model !== undefined && { model }),
    messages: [prompt],
    ...(isNew && { system }),
    metadata: config.metadata,
  }
}

function createRunResult(
  control: RunControl,
  work: PromptSender,
  output: string | undefined,
  failure: unknown,
): RunResult {
  const { recorder: told, stopReason: reason } = work
  const stopped = failure !== undefined && reason !== undefined && !control.signal.aborted
  const status = control.signal.aborted ? "aborted" : stopped ? "stopped" : failure === undefined ? "done" : "failed"
  const by = { aborted: "abort", stopped: "limit", done: "answer", failed: "failure" } as const
  return {
    id: control.id,
    status,
    output: output ?? told.output,
    completion: { by: by[status] },
    cycles: told.cycles,
    usage: control.takeSpent(),
    messages: [],
    trajectory: trajectory([]),
    ...(told.files.length > 0 && { files: [...told.files] }),
    ...(stopped && { reason }),
    ...(status === "aborted" && abortDetail(control.signal.reason)),
    ...(status === "failed" && { error: { ...errorData(failure), cause: failure } }),
  }
}
