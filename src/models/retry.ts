// Retries model calls that may succeed later.
import { setTimeout as after } from "node:timers/promises"
import * as check from "../core/checks/check-options.ts"
import { ModelError } from "../core/errors.ts"
import { abortError } from "../core/run.ts"
import { timerMs } from "../core/time-limit.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { modelFailure } from "./model-failure.ts"
import { closableStream, passOnParts, wrapModel } from "./model-stream.ts"

export interface RetryOptions {
  /** The most retries after the first attempt. Default 5. */
  maxRetries?: number | undefined
  /** The first delay. Each further delay is twice as long, plus up to a quarter. Default 500. */
  firstDelayMs?: number | undefined
  /** The longest delay. If the service asks for a longer one, the call fails immediately. Default 32,000. */
  maxDelayMs?: number | undefined
  /** Waits, and rejects if the signal fires. Default: the real clock. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
  /** From 0 to 1. Default `Math.random`. */
  random?: (() => number) | undefined
  /** Called before the delay of each retry. Errors it throws are ignored. */
  onRetry?: ((retry: ModelRetry) => void) | undefined
}

export const retryChecks: check.OptionChecks<RetryOptions> = {
  maxRetries: check.mustBeLimit(0),
  firstDelayMs: check.mustBeIntegerFrom(0),
  maxDelayMs: check.mustBeLimit(0),
  sleep: check.mustBeFunction,
  random: check.mustBeFunction,
  onRetry: check.mustBeFunction,
}

export interface ModelRetry {
  /** 1 for the first retry. */
  attempt: number
  delayMs: number
  error: ModelError
}

/** Retries rate limits, overload, server errors, lost connections and time-outs, until the first part has been
 *  passed on. Respects the delay that the service asks for. */
export function withRetry(model: Model, options: RetryOptions = {}): Model {
  check.checkOptions("withRetry()", options, retryChecks)
  const {
    maxRetries = 5,
    firstDelayMs = 500,
    maxDelayMs = 32_000,
    sleep = realSleep,
    random = Math.random,
    onRetry,
  } = options

  async function* attempts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    for (let attempt = 1; ; attempt++) {
      const failure = yield* passOnParts(model, { ...request, signal })
      if (!failure) return
      if (signal.aborted) throw abortError(signal)
      const error = modelFailure(failure.thrown, { id: model.id })
      if (failure.started || attempt > maxRetries || !(error instanceof ModelError) || !error.retryable) throw error
      const { retryAfterMs } = error
      if (retryAfterMs !== undefined && retryAfterMs > maxDelayMs) throw error
      const delayMs = retryAfterMs ?? Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1) * (1 + random() / 4))
      observe({ attempt, delayMs, error }, request)
      await sleep(delayMs, signal)
      if (signal.aborted) throw abortError(signal)
    }
  }

  // Errors of observers are ignored.
  function observe(retried: ModelRetry, request: ModelRequest): void {
    request.onRetry?.(retried)
    try {
      onRetry?.(retried)
    } catch {}
  }

  return wrapModel(model, (request) => closableStream(request.signal, (signal) => attempts(request, signal)))
}

async function realSleep(ms: number, signal: AbortSignal): Promise<void> {
  await after(timerMs(ms), undefined, { signal }).catch(() => {
    throw abortError(signal)
  })
}
