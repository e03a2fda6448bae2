// Retries of failed runs: when the engine retries by itself, and `engine.retry`.
import { AgentError, type ErrorData, errorData, ModelError, ProviderError } from "../core/errors.ts"
import type { EventBody } from "../core/event.ts"
import type { Store } from "../stores/store.ts"
import { type RunHead, runKeys, type StoredRunHead, sessionKey, updateHead } from "./checkpoint.ts"
import { commitWithEvents, type HeadCommit } from "./run/engine-events.ts"

/** How a durable run that failed with a `retryable` error is retried. */
export interface RetryPolicy {
  /** The wait before the first retry, in milliseconds. It doubles with each further retry. Default 5,000. */
  firstDelayMs?: number | undefined
  /** The longest wait, unless the service asks for a longer one. Default 300,000. */
  maxDelayMs?: number | undefined
  /** The most retries without a saved cycle in between. Default 10. */
  maxRetries?: number | undefined
  /** How long after the first failure a run is still retried. Default 3,600,000. */
  withinMs?: number | undefined
}

/** The retries since the last saved cycle, as stored in the head of a run. */
export interface Retries {
  count: number
  /** When the first of these failures happened. */
  since: number
}

export interface NextRetry extends Retries {
  at: number
  error: ErrorData
}

/** Returns when to retry after this failure; undefined if the run has failed for good. */
export function nextRetry(
  { retries }: RunHead,
  failure: unknown,
  { firstDelayMs = 5_000, maxDelayMs = 300_000, maxRetries = 10, withinMs = 3_600_000 }: RetryPolicy,
  now = Date.now(),
): NextRetry | undefined {
  const error = errorData(failure)
  if (!error.retryable) return undefined
  const { count = 0, since = now } = retries ?? {}
  if (count >= maxRetries) return undefined
  const backOff = Math.min(firstDelayMs * 2 ** count, maxDelayMs)
  // Between 50 % and 100 % of the wait, so that runs that failed together are not retried together.
  const at = Math.max(now + backOff * (0.5 + Math.random() / 2), retryTimeFromError(failure, now))
  return at - since > withinMs ? undefined : { count: count + 1, since, at: Math.ceil(at), error }
}

/** The earliest time that the service named for another request; 0 if it named none. */
function retryTimeFromError(failure: unknown, now: number): number {
  if (failure instanceof ModelError) return now + (failure.retryAfterMs ?? 0)
  return failure instanceof ProviderError ? (failure.retryAt ?? 0) : 0
}

/** Returns the run to the queue; no worker takes it before that time. */
export function retryLaterCommit({ id }: RunHead, { at, count, since, error }: NextRetry): HeadCommit {
  const message = `${error.message} The cycle is tried again at ${new Date(at).toISOString()} (retry ${count}).`
  const warning: EventBody = { type: "warning-raised", code: "run-retried", message }
  return commitWithEvents(id, [warning], ({ lease: _, ...head }) => ({
    ...head,
    status: "queued",
    retries: { count, since },
    retryAt: at,
  }))
}

/** Returns a failed run to the queue, by a call of `engine.retry`. Resolves to the revision of its head. */
export async function retryRun(store: Store, { head: { id, agent, session, status } }: StoredRunHead): Promise<number> {
  const why = (what: string) => `Run ${id} cannot be tried again: ${what}`
  if (status !== "failed") {
    throw new AgentError(why(`it is ${status}. Only failed runs are.`), { code: "not-failed" })
  }
  if (session !== undefined) {
    const last = await store.get(sessionKey(agent, session))
    const later = why(`run ${last?.value} of session "${session}" came after it.`)
    if (last?.value !== id) throw new AgentError(later, { code: "followed" })
  }
  const changed = await updateHead(store, id, (head) => {
    if (head.status !== "failed") return undefined
    const [next, changes] = manualRetryCommit(head)
    const marker = { type: "append", log: runKeys(id).journal, items: [{ type: "retry", key: "" }] } as const
    // Written again, so that a run submitted to the session at this moment conflicts and sees that this run continues.
    const name = session !== undefined ? sessionKey(agent, session) : undefined
    return {
      head: next(head),
      changes: [...changes, marker, ...(name ? [{ type: "put", key: name, value: id } as const] : [])],
    }
  })
  if (!changed) throw new AgentError(why("it is being tried again already."), { code: "not-failed" })
  return changed.revision
}

/** A failed run continues from its last checkpoint. The events of the cycle that failed stay in the log but leave the
 *  conversation. */
function manualRetryCommit({ id }: RunHead): HeadCommit {
  const message = "The run had failed and is tried again from its last checkpoint."
  return commitWithEvents(
    id,
    [{ type: "warning-raised", code: "run-retried", message }],
    ({
      retries: _,
      retryAt: __,
      failedFrom,
      failedWith: ___,
      pending: ____,
      attempts: _____,
      used: ______,
      ...head
    }) => ({
      ...head,
      status: "queued",
      skipped: [...(head.skipped ?? []), [failedFrom ?? head.stored - 1, head.stored - 1]],
    }),
  )
}
