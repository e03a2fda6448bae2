import { rejectOnAbort } from "../../core/abort.ts"
import type { Run, RunResult } from "../../core/agent.ts"
import { abortDetail, errorData, ProviderError } from "../../core/errors.ts"
import type { AgentEvent, EventBody, EventOf } from "../../core/event.ts"
import { newId, type PromptPart, userMessage } from "../../core/message.ts"
import { abortError, type RunBodyResult, type RunControl, runEndEvent, startRun } from "../../core/run.ts"
import type { WaitForTurn } from "../../core/run-queue.ts"
import { trajectory } from "../../core/trajectory.ts"
import { unstartedOutcome } from "../cli-run.ts"
import type { CliOptions } from "../options.ts"
import { type UsageLimit, usageLimitOf } from "../usage-limits.ts"
import { type Candidate, combineFailures, type FailedAttempt, isFallbackReason } from "./fallback-candidates.ts"
import type { FallbackConversation } from "./fallback-conversation.ts"
import { handoffText } from "./handoff-text.ts"

/** A candidate that can be sent something. */
export interface CandidateSender {
  send(prompt: PromptPart[], changes: Partial<CliOptions>): Run
}

export interface FallbackRunSetup {
  name: string
  candidates: readonly Candidate[]
  failover: boolean
  handoffChars: number | undefined
  prompt: PromptPart[]
  changes: Partial<CliOptions>
  conversation: FallbackConversation
  /** Gives a candidate its seat; `runtime` is where those before it worked. */
  openCandidate(candidate: Candidate, runtime: Run["runtime"]): Promise<CandidateSender>
  signal?: AbortSignal | undefined
  onEvent: CliOptions["onEvent"]
  /** Waits for the run's turn in its session. */
  waitForTurn?: WaitForTurn | undefined
  /** Called with its result, and that of the candidate whose it is. */
  onEnded?: ((result: RunResult, inner: RunResult | undefined) => void) | undefined
  dispose?: (() => Promise<void>) | undefined
}

/** One prompt to the first of several agents that can do it. It is one run, whoever does the work. */
export function startFallbackRun(place: FallbackRunSetup): Run {
  const id = newId("run")
  let passing: EventRelay | undefined
  return startRun({
    id,
    agent: place.name,
    depth: Number.POSITIVE_INFINITY,
    signal: place.signal,
    onEvent: place.onEvent,
    dispose: place.dispose,
    onChildEvent: (event) => passing?.relay(event),
    onBodyError: (error) => unstartedOutcome(id, error, []),
    body(control) {
      passing = createEventRelay(control, place)
      return runFallback(control, place, passing)
    },
  })
}

async function runFallback(control: RunControl, place: FallbackRunSetup, passing: EventRelay): Promise<RunBodyResult> {
  const { conversation } = place
  try {
    await rejectOnAbort(place.waitForTurn?.(control.signal), control.signal)
  } catch (error) {
    // The conversation never hears of it, whoever watches the run does.
    passing.ensureStarted()
    return unstartedOutcome(control.id, control.signal.aborted ? abortError(control.signal) : error, [])
  }
  const firstEvent = conversation.events.length
  control.setRecorder(conversation.record)
  const { result: reached, error } = await sent(control, place, passing)
  passing.ensureStarted()
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
  place.onEnded?.(result, reached)
  if (status === "aborted") return { result, error: abortError(control.signal) }
  return status === "failed" ? { result, error } : { result }
}

interface Attempt {
  result?: RunResult
  error?: unknown
}

async function sent(control: RunControl, place: FallbackRunSetup, passing: EventRelay): Promise<Attempt> {
  try {
    return await tryCandidates(control, place, passing)
  } catch (error) {
    return { error }
  }
}

async function tryCandidates(control: RunControl, place: FallbackRunSetup, passing: EventRelay): Promise<Attempt> {
  const { conversation } = place
  const order = candidateOrder(place)
  const failures: FailedAttempt[] = []
  const limits = new Map<Candidate, UsageLimit>()
  const before = conversation.messages.length
  let prompt = place.prompt
  let runtime: Run["runtime"]

  async function attempt(candidate: Candidate, accept: (limit: UsageLimit) => boolean): Promise<Attempt> {
    const changes = { ...candidate.applicableChanges(place.changes), ...candidate.limitWaitOptions(accept) }
    try {
      const seat = await place.openCandidate(candidate, runtime)
      const run = seat.send(prompt, changes)
      passing.follow(run)
      const result = await run.settled
      runtime ??= run.runtime
      for (const file of result.files ?? []) conversation.files.add(file)
      return { result, ...(result.status === "failed" && { error: result.error?.cause ?? result.error }) }
    } catch (error) {
      return { error }
    }
  }

  /** Whether another may do better; if not, this is how it ends. */
  function mayMove(candidate: Candidate, { error, result }: Attempt): boolean {
    if (isFallbackReason(error)) {
      failures.push({ name: candidate.name, error })
      const limit = error instanceof ProviderError ? usageLimitOf(error) : undefined
      if (limit) limits.set(candidate, limit)
      return true
    }
    const answered = result && error === undefined && result.status !== "aborted"
    if (answered) conversation.committedIndex = place.candidates.indexOf(candidate)
    return false
  }

  function change(from: Candidate, to: Candidate, reason: string): void {
    passing.ensureStarted()
    control.emit({ type: "provider-changed", from: from.name, to: to.name, reason })
    const { messages, files } = conversation
    const acted = messages.slice(before).some(({ role }) => role === "result")
    if (!acted && conversation.committedIndex === undefined) return
    // What is asked for now follows.
    const past = messages.filter(({ id }) => id !== passing.promptId())
    const text = handoffText({ from: from.name, reason, messages: past, files, maxChars: place.handoffChars })
    control.emit({ type: "prompt-steered", message: userMessage(text, "host") })
    prompt = [{ type: "text", text }, ...place.prompt]
  }

  let tried: Attempt = {}
  for (const [nth, candidate] of order.entries()) {
    const next = order[nth + 1]
    // Who is last waits, unless the limit of another is over sooner.
    const isSoonest = ({ until }: UsageLimit) => limits.values().every((other) => other.until >= until)
    tried = await attempt(candidate, next ? () => false : isSoonest)
    if (!mayMove(candidate, tried)) return tried
    if (next) change(candidate, next, failures.at(-1)?.error.message ?? "")
  }
  const [soonest] = [...limits.keys()].sort((one, other) => limitEndOf(limits, one) - limitEndOf(limits, other))
  const last = order.at(-1)
  if (soonest?.waitsForLimits && last && soonest !== last) {
    change(last, soonest, `Nobody else is left, and the limit of ${soonest.name} is over first.`)
    tried = await attempt(soonest, () => true)
    if (!mayMove(soonest, tried)) return tried
  }
  return { ...tried, error: combineFailures(failures) }
}

function limitEndOf(limits: ReadonlyMap<Candidate, UsageLimit>, candidate: Candidate): number {
  return limits.get(candidate)?.until ?? Number.POSITIVE_INFINITY
}

function candidateOrder({ candidates, conversation, failover }: FallbackRunSetup): Candidate[] {
  const installed = candidates.filter((candidate) => candidate.isInstalled())
  const current = conversation.committedIndex === undefined ? undefined : candidates[conversation.committedIndex]
  if (current) return failover ? [current, ...installed.filter((each) => each !== current)] : [current]
  // Of none, the first says what is missing.
  return installed.length > 0 ? installed : candidates.slice(0, 1)
}

/** Tells what the run of a candidate tells as that of the fallback. */
interface EventRelay {
  follow(run: Run): void
  relay(event: AgentEvent): void
  /** Sees to it that the run has begun. */
  ensureStarted(): void
  /** The id of the message that it began with. */
  promptId(): string | undefined
}

function createEventRelay(control: RunControl, { name, prompt, changes, conversation }: FallbackRunSetup): EventRelay {
  const { warnings } = conversation
  let inner: Run | undefined
  let asked: string | undefined

  function beginning(): Pick<EventOf<"run-start">, "messages" | "metadata" | "model" | "system"> {
    return { messages: [userMessage(prompt)], metadata: changes.metadata ?? {} }
  }

  function begin(body?: EventOf<"run-start">): void {
    if (asked !== undefined) return
    const { messages, metadata, model, system } = body ?? beginning()
    asked = messages.findLast(({ role }) => role === "user")?.id ?? ""
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
    if (inner?.runtime) control.setRuntime(inner.runtime)
    for (const message of warnings.splice(0)) control.emit({ type: "warning-raised", code: "resumed", message })
  }

  return {
    follow(run) {
      inner = run
    },
    relay(event) {
      for (const text of control.takeSteered()) inner?.steer(text)
      if (event.run !== inner?.id) {
        return control.forward(event.parent === inner?.id ? { ...event, parent: control.id } : event)
      }
      if (event.type === "run-start") return begin(event)
      if (event.type === "run-end") return
      // It is stamped anew, and a copy, because the other belongs to its own run.
      const { parent: _, ...body } = event
      control.emit(body as EventBody)
    },
    ensureStarted: begin,
    promptId: () => asked,
  }
}
