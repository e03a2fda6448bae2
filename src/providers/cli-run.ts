// Runs one prompt through a coding CLI, from its `run-start` to its `run-end` event.
import { rejectOnAbort } from "../core/abort.ts"
import type { RunResult } from "../core/agent.ts"
import { abortDetail, errorData, isAbortError } from "../core/errors.ts"
import type { AgentEvent, EventBody } from "../core/event.ts"
import type { UserMessage } from "../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent } from "../core/run.ts"
import type { WaitForStart } from "../core/run-queue.ts"
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
  openConversation(signal: AbortSignal): Promise<CliConversation>
  /** Waits until the runs queued before it in the session have ended. */
  waitForStart?: WaitForStart | undefined
  /** Called if the conversation could not be opened. */
  onAbandoned?: (() => void) | undefined
  /** Called when the run is over. */
  onEnded?: ((result: RunResult, conversation: CliConversation) => Promise<void>) | undefined
}

export async function runCli(control: RunControl, setup: CliRunSetup): Promise<RunBodyResult> {
  const { config, prompt } = setup
  let conversation: CliConversation
  try {
    await setup.waitForStart?.(control.signal)
    conversation = await rejectOnAbort(setup.openConversation(control.signal), control.signal)
  } catch (error) {
    setup.onAbandoned?.()
    // These events go to listeners of the run, but not into the conversation.
    const start = control.emit({ type: "run-start", agent: config.name, messages: [prompt], metadata: config.metadata })
    return unstartedOutcome(control.id, control.signal.aborted ? abortError(control.signal) : error, [start])
  }
  const firstEvent = conversation.events.length
  if (conversation.runtime) control.setRuntime(conversation.runtime)
  control.setRecorder(conversation.record)
  control.emit(runStartEvent(setup, conversation))
  for (const message of conversation.warnings.splice(0))
    control.emit({ type: "warning-raised", code: "resumed", message })
  const sender = createPromptSender(control, setup, conversation)
  let end: TurnResult
  let failure: unknown
  try {
    await conversation.save?.(false)
    end = await sendWaitingForLimits(sender.send, control, config.autoWait)
    failure = end.failure
  } catch (error) {
    failure = error
    end = { usage: { ...sender.used(), complete: false } }
  }
  sender.stop()
  conversation.pendingSteering.push(...control.takeSteered())
  await control.endChildRuns()
  control.spend(end.usage)
  const result = createRunResult(control, sender, end.output, failure)
  // Emitted here and not by `startRun`, so that the conversation records it too.
  control.emit(runEndEvent(result))
  await conversation.save?.(true)
  result.messages = conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  await setup.onEnded?.(result, conversation)
  if (result.status === "aborted") return { result, error: abortError(control.signal) }
  return result.status === "failed" ? { result, error: failure } : { result }
}

/** The result of a run that failed or was aborted before its CLI was started. */
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

function runStartEvent({ config, prompt }: CliRunSetup, conversation: CliConversation): EventBody {
  const { model, instructions, systemPrompt } = config.settings
  const system = [systemPrompt, instructions].filter(Boolean).join("\n\n")
  const isNew = conversation.system !== system
  conversation.system = system
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
  sender: PromptSender,
  output: string | undefined,
  failure: unknown,
): RunResult {
  const { recorder, stopReason: reason } = sender
  const stopped = failure !== undefined && reason !== undefined && !control.signal.aborted
  const status = control.signal.aborted ? "aborted" : stopped ? "stopped" : failure === undefined ? "done" : "failed"
  const by = { aborted: "abort", stopped: "limit", done: "answer", failed: "failure" } as const
  return {
    id: control.id,
    status,
    output: output ?? recorder.output,
    completion: { by: by[status] },
    cycles: recorder.cycles,
    usage: control.takeSpent(),
    messages: [],
    trajectory: trajectory([]),
    ...(recorder.files.length > 0 && { files: [...recorder.files] }),
    ...(stopped && { reason }),
    ...(status === "aborted" && abortDetail(control.signal.reason)),
    ...(status === "failed" && { error: { ...errorData(failure), cause: failure } }),
  }
}
