import type { Decision, LiveObjects, Run, RunResult } from "./agent.ts"
import { AbortError, AgentError, ConfigError, errorData } from "./errors.ts"
import type { AgentEvent, EventBody } from "./event.ts"

/** What the body of a run works with. */
export interface RunControl {
  readonly id: string
  readonly signal: AbortSignal
  /** Stamps and publishes one event; the object is the run's from then on. */
  emit(body: EventBody): AgentEvent
  /** Publishes an event that is stamped already: a sub-agent's. */
  forward(event: AgentEvent): void
  /** Takes what was said by `steer` since the last call. */
  steered(): string[]
  /** Whether somebody is reading the events right now. */
  readonly watched: boolean
  /** Waits for `run.approve(id, …)`. Rejects with the abort reason. */
  decision(id: string): Promise<Decision>
  useRuntime(runtime: LiveObjects): void
  /** Hands every event from now on to the record, before anybody else sees it. */
  useRecord(record: (event: AgentEvent) => void): void
}

/** How a run ended, and the value its awaiter gets. `error` is thrown to who awaits. */
export interface RunOutcome {
  result: RunResult
  error?: unknown
}

export interface RunSetup {
  id: string
  parent?: string | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: AgentEvent) => unknown) | undefined
  now?: (() => number) | undefined
  /** Emits everything but `run-end`, and answers with it. Must not reject: an error it lets out is a bug of ours, and
   *  still ends the run once. */
  body(control: RunControl): Promise<RunOutcome>
  /** The result when the body itself broke. */
  broken(error: unknown): RunOutcome
  /** Ends what the run opened and left open for its result's sake; called by `await using`. */
  dispose?: (() => Promise<void>) | undefined
}

/** Starts work and gives the handle on it. */
export function startRun(setup: RunSetup): Run {
  const { id, parent, onEvent, now = Date.now } = setup
  const log: AgentEvent[] = []
  const readers = new Set<Reader>()
  const controller = new AbortController()
  const signal = setup.signal ? AbortSignal.any([setup.signal, controller.signal]) : controller.signal
  const steered: string[] = []
  const decisions = new Map<string, (decision: Decision) => void>()
  let seq = 0
  let runtime: LiveObjects | undefined
  let record: ((event: AgentEvent) => void) | undefined
  let observerFailed = false
  let ended = false

  function publish(event: AgentEvent): void {
    if (ended) return
    record?.(event)
    pushMerged(log, event)
    for (const reader of readers) reader.push(event)
    if (event.type === "run-end" && event.run === id) ended = true
    observe(event)
  }

  function observe(event: AgentEvent): void {
    try {
      const pending: unknown = onEvent?.(event)
      if (pending instanceof Promise) pending.catch(ignoreObserver)
    } catch (error) {
      ignoreObserver(error)
    }
  }

  function ignoreObserver(error: unknown): void {
    if (observerFailed) return
    observerFailed = true
    const { message } = errorData(error)
    control.emit({ type: "warning-raised", code: "observer", message: `An observer threw and was ignored: ${message}` })
  }

  const control: RunControl = {
    id,
    signal,
    emit(body) {
      // The body is ours from here on: stamping it in place spares a copy of every event.
      const event: AgentEvent = Object.assign(body, { run: id, seq: seq++, at: now() })
      if (parent !== undefined) event.parent = parent
      publish(event)
      return event
    },
    forward: publish,
    steered: () => steered.splice(0),
    get watched() {
      return readers.size > 0 && !ended
    },
    decision(callId) {
      const { promise, resolve, reject } = Promise.withResolvers<Decision>()
      const abort = () => reject(abortError(signal))
      if (signal.aborted) abort()
      signal.addEventListener("abort", abort, { once: true })
      decisions.set(callId, resolve)
      return promise.finally(() => {
        decisions.delete(callId)
        signal.removeEventListener("abort", abort)
      })
    },
    useRuntime(objects) {
      runtime = objects
    },
    useRecord(recorder) {
      record = recorder
    },
  }

  // A microtask later, so that who starts a run can subscribe before its first event.
  const outcome = Promise.resolve()
    .then(() => setup.body(control))
    .catch(setup.broken)
    .then((end) => {
      if (!ended) control.emit(runEnd(end.result))
      for (const reader of readers) reader.end()
      return end
    })
  const settled = outcome.then((end) => end.result)

  async function unwrap(): Promise<RunResult> {
    const { result, error } = await outcome
    if (result.status === "aborted") throw error ?? abortError(signal)
    if (result.status === "failed") throw error ?? new AgentError(result.error?.message ?? "The run failed.")
    return result
  }

  return {
    id,
    settled,
    get runtime() {
      return runtime
    },
    then: (onResolve, onReject) => unwrap().then(onResolve, onReject),
    catch: (onReject) => unwrap().catch(onReject),
    finally: (onEnd) => unwrap().finally(onEnd),
    [Symbol.asyncIterator]() {
      const reader = createReader(log.slice(), () => readers.delete(reader))
      if (ended) reader.end()
      else readers.add(reader)
      return reader.iterator
    },
    abort(reason) {
      controller.abort(new AbortError(reason))
    },
    steer(text) {
      steered.push(text)
    },
    approve(callId, decision) {
      if (!["allow", "deny", "always"].includes(decision)) {
        throw new ConfigError(`run.approve: "${decision}" is no decision. Use "allow", "deny" or "always".`)
      }
      const resolve = decisions.get(callId)
      if (!resolve)
        throw new AgentError(`No approval "${callId}" is waiting in this run.`, { code: "unknown-approval" })
      resolve(decision)
    },
    async [Symbol.asyncDispose]() {
      controller.abort(new AbortError("The run was disposed of before it ended."))
      await settled
      await setup.dispose?.()
    },
  }
}

/** The error to throw for a fired signal: its own reason where that is an error, else ours. */
export function abortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  if (reason instanceof AbortError) return reason
  return new AbortError(undefined, { cause: reason })
}

/** The event that says how a run ended. */
export function runEnd(result: RunResult): EventBody {
  const { status, output, cycles, usage, reason, pending, error } = result
  return {
    type: "run-end",
    status,
    output,
    cycles,
    usage,
    ...(reason && { reason }),
    ...(pending && { pending }),
    ...(error && { error: errorFields(error) }),
  }
}

function errorFields({ name, message, code, retryable }: NonNullable<RunResult["error"]>) {
  return { name, message, ...(code !== undefined && { code }), ...(retryable !== undefined && { retryable }) }
}

interface Reader {
  push(event: AgentEvent): void
  end(): void
  iterator: AsyncIterator<AgentEvent>
}

// Each reader has its own queue, so a slow one costs only itself; deltas it has not read yet merge, so its queue stays
// as small as the stored log however long the model talks.
function createReader(queue: AgentEvent[], leave: () => void): Reader {
  const waiting: ((result: IteratorResult<AgentEvent>) => void)[] = []
  let finished = false
  let position = 0
  return {
    push(event) {
      const wake = waiting.shift()
      if (wake) return wake({ value: event, done: false })
      pushMerged(queue, event, position)
    },
    end() {
      finished = true
      for (const wake of waiting.splice(0)) wake({ value: undefined, done: true })
    },
    iterator: {
      async next() {
        const event = queue[position]
        if (event) {
          position++
          if (position === queue.length) {
            queue.length = 0
            position = 0
          }
          return { value: event, done: false }
        }
        if (finished) return { value: undefined, done: true }
        return new Promise((resolve) => waiting.push(resolve))
      },
      async return() {
        finished = true
        leave()
        for (const wake of waiting.splice(0)) wake({ value: undefined, done: true })
        return { value: undefined, done: true }
      },
    },
  }
}

// Appends, or joins a delta to the one before it when both continue the same thing. Entries before `from` were handed
// out already and are never touched.
function pushMerged(queue: AgentEvent[], event: AgentEvent, from = 0): void {
  const last = queue.length > from ? queue.at(-1) : undefined
  if (last && "text" in last && "text" in event && continues(last, event)) {
    queue[queue.length - 1] = { ...last, text: last.text + event.text }
    return
  }
  queue.push(event)
}

function continues(last: AgentEvent, event: AgentEvent): boolean {
  if (last.type !== event.type || last.run !== event.run) return false
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      return true
    case "code-delta":
      return last.type === "code-delta" && last.id === event.id && last.of === event.of
    case "tool-delta":
      return last.type === "tool-delta" && last.id === event.id
    default:
      return false
  }
}
