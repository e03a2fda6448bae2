import { orAbort } from "../core/abort.ts"
import type { Run, RunResult } from "../core/agent.ts"
import { abortDetail, errorData, ProviderError } from "../core/errors.ts"
import type { AgentEvent, EventBody, EventOf } from "../core/event.ts"
import { newId, type PromptPart, userMessage } from "../core/message.ts"
import { abortError, type RunControl, type RunOutcome, runEnd, startRun } from "../core/run.ts"
import type { Turn } from "../core/serial-queue.ts"
import { trajectory } from "../core/trajectory.ts"
import { allFailed, type Candidate, type Failed, movesOn } from "./candidates.ts"
import { brokenOutcome } from "./cli-run.ts"
import type { FallbackConversation } from "./fallback-conversation.ts"
import { handoffText } from "./handoff.ts"
import { limitOf, type UsageLimit } from "./limits.ts"
import type { CliOptions } from "./options.ts"

/** A candidate that can be sent something. */
export interface Seat {
  send(prompt: PromptPart[], changes: Partial<CliOptions>): Run
}

export interface FallbackPlace {
  name: string
  candidates: readonly Candidate[]
  failover: boolean
  handoffChars: number | undefined
  prompt: PromptPart[]
  changes: Partial<CliOptions>
  conversation: FallbackConversation
  /** Gives a candidate its seat; `runtime` is where those before it worked. */
  seat(candidate: Candidate, runtime: Run["runtime"]): Promise<Seat>
  signal?: AbortSignal | undefined
  onEvent: CliOptions["onEvent"]
  /** Waits for the run's turn in its session. */
  turn?: Turn | undefined
  /** Called with its result, and that of the candidate whose it is. */
  ended?: ((result: RunResult, inner: RunResult | undefined) => void) | undefined
  dispose?: (() => Promise<void>) | undefined
}

/** One prompt to the first of several agents that can do it. It is one run, whoever does the work. */
export function startFallbackRun(place: FallbackPlace): Run {
  const id = newId("run")
  let passing: Passing | undefined
  return startRun({
    id,
    agent: place.name,
    depth: Number.POSITIVE_INFINITY,
    signal: place.signal,
    onEvent: place.onEvent,
    dispose: place.dispose,
    adopt: (event) => passing?.take(event),
    broken: (error) => brokenOutcome(id, error, []),
    body(control) {
      passing = passingOn(control, place)
      return fallbackRun(control, place, passing)
    },
  })
}

async function fallbackRun(control: RunControl, place: FallbackPlace, passing: Passing): Promise<RunOutcome> {
  const { conversation } = place
  try {
    await orAbort(place.turn?.(control.signal), control.signal)
  } catch (error) {
    // The conversation never hears of it, whoever watches the run does.
    passing.begin()
    return brokenOutcome(control.id, control.signal.aborted ? abortError(control.signal) : error, [])
  }
  const firstEvent = conversation.events.length
  control.useRecord(conversation.record)
  const { result: reached, error } = await sent(control, place, passing)
  passing.begin()
  await control.endChildren()
  const base = reached ?? brokenOutcome(control.id, error, []).result
  const status = control.signal.aborted ? "aborted" : base.status
  const failure = status === "failed" ? { error: { ...errorData(error), cause: error } } : {}
  const aborted = status === "aborted" ? abortDetail(control.signal.reason) : {}
  const result: RunResult = { ...base, id: control.id, status, usage: control.takeSpent(), ...failure, ...aborted }
  control.emit(runEnd(result))
  await conversation.saved?.(true)
  result.messages = reached?.messages ?? conversation.messages.slice()
  result.trajectory = trajectory(conversation.events.slice(firstEvent))
  place.ended?.(result, reached)
  if (status === "aborted") return { result, error: abortError(control.signal) }
  return status === "failed" ? { result, error } : { result }
}

interface Attempt {
  result?: RunResult
  error?: unknown
}

async function sent(control: RunControl, place: FallbackPlace, passing: Passing): Promise<Attempt> {
  try {
    return await tryAll(control, place, passing)
  } catch (error) {
    return { error }
  }
}

async function tryAll(control: RunControl, place: FallbackPlace, passing: Passing): Promise<Attempt> {
  const { conversation } = place
  const order = orderOf(place)
  const failures: Failed[] = []
  const limits = new Map<Candidate, UsageLimit>()
  const before = conversation.messages.length
  let prompt = place.prompt
  let runtime: Run["runtime"]

  async function attempt(candidate: Candidate, accept: (limit: UsageLimit) => boolean): Promise<Attempt> {
    const changes = { ...candidate.changes(place.changes), ...candidate.waiting(accept) }
    try {
      const seat = await place.seat(candidate, runtime)
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
    if (movesOn(error)) {
      failures.push({ name: candidate.name, error })
      const limit = error instanceof ProviderError ? limitOf(error) : undefined
      if (limit) limits.set(candidate, limit)
      return true
    }
    const answered = result && error === undefined && result.status !== "aborted"
    if (answered) conversation.committed = place.candidates.indexOf(candidate)
    return false
  }

  function change(from: Candidate, to: Candidate, reason: string): void {
    passing.begin()
    control.emit({ type: "provider-changed", from: from.name, to: to.name, reason })
    const { messages, files } = conversation
    const acted = messages.slice(before).some(({ role }) => role === "result")
    if (!acted && conversation.committed === undefined) return
    // What is asked for now follows.
    const past = messages.filter(({ id }) => id !== passing.asked())
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
  const [soonest] = [...limits.keys()].sort((one, other) => untilOf(limits, one) - untilOf(limits, other))
  const last = order.at(-1)
  if (soonest?.waits && last && soonest !== last) {
    change(last, soonest, `Nobody else is left, and the limit of ${soonest.name} is over first.`)
    tried = await attempt(soonest, () => true)
    if (!mayMove(soonest, tried)) return tried
  }
  return { ...tried, error: allFailed(failures) }
}

function untilOf(limits: ReadonlyMap<Candidate, UsageLimit>, candidate: Candidate): number {
  return limits.get(candidate)?.until ?? Number.POSITIVE_INFINITY
}

function orderOf({ candidates, conversation, failover }: FallbackPlace): Candidate[] {
  const installed = candidates.filter((candidate) => candidate.isInstalled())
  const current = conversation.committed === undefined ? undefined : candidates[conversation.committed]
  if (current) return failover ? [current, ...installed.filter((each) => each !== current)] : [current]
  // Of none, the first says what is missing.
  return installed.length > 0 ? installed : candidates.slice(0, 1)
}

/** Tells what the run of a candidate tells as that of the fallback. */
interface Passing {
  follow(run: Run): void
  take(event: AgentEvent): void
  /** Sees to it that the run has begun. */
  begin(): void
  /** The id of the message that it began with. */
  asked(): string | undefined
}

function passingOn(control: RunControl, { name, prompt, changes, conversation }: FallbackPlace): Passing {
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
    conversation.saved?.(false).catch(() => undefined)
    if (inner?.runtime) control.useRuntime(inner.runtime)
    for (const message of warnings.splice(0)) control.emit({ type: "warning-raised", code: "resumed", message })
  }

  return {
    follow(run) {
      inner = run
    },
    take(event) {
      for (const text of control.steered()) inner?.steer(text)
      if (event.run !== inner?.id) {
        return control.forward(event.parent === inner?.id ? { ...event, parent: control.id } : event)
      }
      if (event.type === "run-start") return begin(event)
      if (event.type === "run-end") return
      // It is stamped anew, and a copy, because the other belongs to its own run.
      const { parent: _, ...body } = event
      control.emit(body as EventBody)
    },
    begin,
    asked: () => asked,
  }
}
