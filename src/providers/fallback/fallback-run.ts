// Runs one prompt with the first candidate that succeeds, as one run.
import { replaceHookSession } from "../../actions/hook-caller.ts"
import { rejectOnAbort } from "../../core/abort.ts"
import type { Run, RunResult } from "../../core/agent.ts"
import { abortDetail, errorData, ProviderError } from "../../core/errors.ts"
import type { AgentEvent, EventBody, EventOf } from "../../core/event.ts"
import { type Message, newId, type PromptPart, userMessage } from "../../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent, startRun } from "../../core/run.ts"
import type { WaitForStart } from "../../core/run-queue.ts"
import { trajectory } from "../../core/trajectory.ts"
import { unstartedOutcome } from "../cli-run.ts"
import type { CliOptions } from "../options.ts"
import { type UsageLimit, usageLimitOf } from "../usage-limits.ts"
import { type Candidate, combineFailures, type FailedAttempt, isFallbackReason } from "./fallback-candidates.ts"
import type { FallbackConversation } from "./fallback-conversation.ts"
import { handoffText } from "./handoff-text.ts"

/** Sends prompts to one candidate. */
export interface CandidateSender {
  send(prompt: PromptPart[], changes: Partial<CliOptions>): Run
}

export interface FallbackRunSetup {
  name: string
  candidates: readonly Candidate[]
  failover: boolean
  maxHandoffChars: number | undefined
  prompt: PromptPart[]
  changes: Partial<CliOptions>
  conversation: FallbackConversation
  /** The id of the session that the run belongs to. */
  session?: string | undefined
  /** Prepares a candidate; `runtime` is the one that earlier candidates of this run used. */
  openCandidate(candidate: Candidate, runtime: Run["runtime"]): Promise<CandidateSender>
  signal?: AbortSignal | undefined
  onEvent: CliOptions["onEvent"]
  /** Waits until the runs queued before it in the session have ended. */
  waitForStart?: WaitForStart | undefined
  /** Called with the result, and with the result of the candidate's own run. */
  onEnded?: ((result: RunResult, candidateRun: RunResult | undefined) => void) | undefined
  dispose?: (() => Promise<void>) | undefined
}

export function startFallbackRun(setup: FallbackRunSetup): Run {
  const id = newId("run")
  let relay: EventRelay | undefined
  return startRun({
    id,
    agent: setup.name,
    depth: Number.POSITIVE_INFINITY,
    signal: setup.signal,
    onEvent: setup.onEvent,
    dispose: setup.dispose,
    onChildEvent: (event) => relay?.pass(event),
    onBodyError: (error) => unstartedOutcome(id, error, []),
    body(control) {
      relay = createEventRelay(control, setup)
      return runFallback(control, setup, relay)
    },
  })
}

async function runFallback(control: RunControl, setup: FallbackRunSetup, relay: EventRelay): Promise<RunBodyResult> {
  const { conversation } = setup
  try {
    await rejectOnAbort(setup.waitForStart?.(control.signal), control.signal)
  } catch (error) {
    // These events go to listeners of the run, but not into the conversation.
    relay.ensureStarted()
    return unstartedOutcome(control.id, control.signal.aborted ? abortError(control.signal) : error, [])
  }
  const firstEvent = conversation.events.length
  control.setRecorder(conversation.record)
  if (setup.session !== undefined) replaceHookSession(control.context, setup.session)
  const { result: reached, error } = await tryCandidates(control, setup, relay).catch((error): Attempt => ({ error }))
  relay.ensureStarted()
  await control.endChildRuns()
  const base = reached ?? unstartedOutcome(control.id, error, []).result
  const status = control.signal.aborted ? "aborted" : base.status
  const failure = status === "failed" ? { error: { ...errorData(error), cause: error } } : {}
  const aborted = status === "aborted" ? abortDetail(control.signal.reason) : {}
  const result: RunResult = { ...base, id: control.id, status, usage: control.takeSpent(), ...failure, ...aborted }
  control.emit(runEndEvent(result))
  await conversation.save?.(true)
  result.messages = reached?.messages ?? conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  setup.onEnded?.(result, reached)
  if (status === "aborted") return { result, error: abortError(control.signal) }
  return status === "failed" ? { result, error } : { result }
}

interface Attempt {
  result?: RunResult
  error?: unknown
}

async function tryCandidates(control: RunControl, setup: FallbackRunSetup, relay: EventRelay): Promise<Attempt> {
  const { conversation } = setup
  const order = candidateOrder(setup)
  const failures: FailedAttempt[] = []
  const limits = new Map<Candidate, UsageLimit>()
  const before = conversation.messages.length
  let prompt = setup.prompt
  let runtime: Run["runtime"]

  async function attempt(candidate: Candidate, accept: (limit: UsageLimit) => boolean): Promise<Attempt> {
    const changes = { ...candidate.applicableChanges(setup.changes), ...candidate.limitWaitOptions(accept) }
    try {
      const sender = await setup.openCandidate(candidate, runtime)
      const run = sender.send(prompt, changes)
      relay.follow(run)
      const result = await run.settled
      runtime ??= run.runtime
      for (const file of result.files ?? []) conversation.files.add(file)
      return { result, ...(result.status === "failed" && { error: result.error?.cause ?? result.error }) }
    } catch (error) {
      return { error }
    }
  }

  /** Returns true if the next candidate shall try; if not, this attempt is the result. */
  function shouldTryNext(candidate: Candidate, { error, result }: Attempt): boolean {
    if (isFallbackReason(error)) {
      failures.push({ name: candidate.name, error })
      const limit = error instanceof ProviderError ? usageLimitOf(error) : undefined
      if (limit) limits.set(candidate, limit)
      return true
    }
    const answered = result && error === undefined && result.status !== "aborted"
    if (answered) conversation.committedIndex = setup.candidates.indexOf(candidate)
    return false
  }

  /** Tells the candidate what was said before, if the agent that had the conversation cannot resume it. */
  function passOnLostConversation(): void {
    const { handoffFrom: from } = conversation
    if (from === undefined) return
    conversation.handoffFrom = undefined
    const past = conversation.messages.slice()
    relay.ensureStarted()
    handOver(from, "Its conversation was not stored.", past)
  }

  function handOver(from: string, reason: string, messages: readonly Message[]): void {
    const text = handoffText({ from, reason, messages, files: conversation.files, maxChars: setup.maxHandoffChars })
    control.emit({ type: "prompt-steered", message: userMessage(text, "host") })
    prompt = [{ type: "text", text }, ...setup.prompt]
  }

  function switchCandidate(from: Candidate, to: Candidate, reason: string): void {
    relay.ensureStarted()
    control.emit({ type: "provider-changed", from: from.name, to: to.name, reason })
    const { messages } = conversation
    const acted = messages.slice(before).some(({ role }) => role === "result")
    if (!acted && conversation.committedIndex === undefined) return
    // The current prompt is sent after the handoff text, so it is left out there.
    const past = messages.filter(({ id }) => id !== relay.promptId())
    handOver(from.name, reason, past)
  }

  passOnLostConversation()
  let attempted: Attempt = {}
  for (const [nth, candidate] of order.entries()) {
    const next = order[nth + 1]
    // The last candidate waits for its limit, unless the limit of another resets sooner.
    const isSoonest = ({ until }: UsageLimit) => limits.values().every((other) => other.until >= until)
    attempted = await attempt(candidate, next ? () => false : isSoonest)
    if (!shouldTryNext(candidate, attempted)) return attempted
    if (next) switchCandidate(candidate, next, failures.at(-1)?.error.message ?? "")
  }
  const [soonest] = [...limits.keys()].sort((one, other) => limitEndOf(limits, one) - limitEndOf(limits, other))
  const last = order.at(-1)
  if (soonest?.waitsForLimits && last && soonest !== last) {
    switchCandidate(last, soonest, `No other agent is left, and the limit of ${soonest.name} is over first.`)
    attempted = await attempt(soonest, () => true)
    if (!shouldTryNext(soonest, attempted)) return attempted
  }
  return { ...attempted, error: combineFailures(failures) }
}

function limitEndOf(limits: ReadonlyMap<Candidate, UsageLimit>, candidate: Candidate): number {
  return limits.get(candidate)?.until ?? Number.POSITIVE_INFINITY
}

function candidateOrder({ candidates, conversation, failover }: FallbackRunSetup): Candidate[] {
  const installed = candidates.filter((candidate) => candidate.isInstalled())
  const current = conversation.committedIndex === undefined ? undefined : candidates[conversation.committedIndex]
  if (current) return failover ? [current, ...installed.filter((each) => each !== current)] : [current]
  // If no CLI is installed, report the first one's missing-binary error.
  return installed.length > 0 ? installed : candidates.slice(0, 1)
}

/** Emits the events of a candidate's run as events of the fallback's run. */
interface EventRelay {
  follow(run: Run): void
  pass(event: AgentEvent): void
  /** Emits `run-start` if it was not emitted yet. */
  ensureStarted(): void
  /** The id of the prompt message. */
  promptId(): string | undefined
}

function createEventRelay(control: RunControl, { name, prompt, changes, conversation }: FallbackRunSetup): EventRelay {
  const { warnings } = conversation
  let candidateRun: Run | undefined
  let promptId: string | undefined

  function beginning(): Pick<EventOf<"run-start">, "messages" | "metadata" | "model" | "system"> {
    return { messages: [userMessage(prompt)], metadata: changes.metadata ?? {} }
  }

  function begin(body?: EventOf<"run-start">): void {
    if (promptId !== undefined) return
    const { messages, metadata, model, system } = body ?? beginning()
    promptId = messages.findLast(({ role }) => role === "user")?.id ?? ""
    control.emit({
      type: "run-start",
      agent: name,
      ...(model !== undefined && { model }),
      messages,
      ...(system !== undefined && { system }),
      metadata,
    })
    // If this fails, the save at the end of the run fails as well and reports it.
    conversation.save?.(false).catch(() => undefined)
    if (candidateRun?.runtime) control.setRuntime(candidateRun.runtime)
    for (const message of warnings.splice(0)) control.emit({ type: "warning-raised", code: "resumed", message })
  }

  return {
    follow(run) {
      candidateRun = run
    },
    pass(event) {
      for (const text of control.takeSteered()) candidateRun?.steer(text)
      if (event.run !== candidateRun?.id) {
        return control.forward(event.parent === candidateRun?.id ? { ...event, parent: control.id } : event)
      }
      if (event.type === "run-start") return begin(event)
      if (event.type === "run-end") return
      // A copy with new run id and sequence number, because the original belongs to the candidate's run.
      const { parent: _, ...body } = event
      control.emit(body as EventBody)
    },
    ensureStarted: begin,
    promptId: () => promptId,
  }
}
