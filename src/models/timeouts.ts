// Gives up on models that do not answer or stop answering.
import { checkOptions, mustBeFunction, mustBeLimit, type OptionChecks } from "../core/checks/check-options.ts"
import { ModelError } from "../core/errors.ts"
import { abortError } from "../core/run.ts"
import { timerMs } from "../core/time-limit.ts"
import type { Model, ModelPart, ModelRequest } from "./model.ts"
import { closableStream, wrapModel } from "./model-stream.ts"

export interface TimeoutOptions {
  /** Time until the first sign of life. Default 60,000; 300,000 for a model on this machine, which may have to load
   *  first. */
  connectMs?: number | undefined
  /** Time from there to the first part, because a model may think silently. Default 300,000. */
  firstPartMs?: number | undefined
  /** Time between parts or other signs of life after the first part. Default 120,000. */
  idleMs?: number | undefined
  /** Calls back after a time, unless the returned function is called first. Default: the real clock. */
  schedule?: ((callback: () => void, ms: number) => () => void) | undefined
}

export const timeoutChecks: OptionChecks<TimeoutOptions> = {
  connectMs: mustBeLimit(1),
  firstPartMs: mustBeLimit(1),
  idleMs: mustBeLimit(1),
  schedule: mustBeFunction,
}

/** Fails with `timeout` if the model does not answer, and with `stalled` if it stops sending. Both can be retried.
 *  Only the time spent waiting for the model counts. Nothing after `finish` is waited for. */
export function withTimeouts(model: Model, options: TimeoutOptions = {}): Model {
  checkOptions("withTimeouts()", options, timeoutChecks)
  const { connectMs = 60_000, firstPartMs = 300_000, idleMs = 120_000, schedule = scheduleOnClock } = options

  async function* watch(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const ending = new AbortController()
    const stop = () => ending.abort(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
    let phase: "connect" | "think" | "idle" = "connect"
    let wait = doNothing
    const parts = model
      .stream({
        ...request,
        signal: ending.signal,
        onActivity() {
          if (phase === "connect") phase = "think"
          wait()
          request.onActivity?.()
        },
      })
      [Symbol.asyncIterator]()

    // A new promise for each wait, so that a long answer does not accumulate reactions on one promise.
    function next(): Promise<IteratorResult<ModelPart>> {
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<ModelPart>>()
      let cancel = doNothing
      wait = () => {
        cancel()
        const ms = { connect: connectMs, think: firstPartMs, idle: idleMs }[phase]
        cancel = schedule(() => reject(timeoutError(model.id, phase, ms)), ms)
      }
      const abort = () => reject(abortError(signal))
      signal.addEventListener("abort", abort, { once: true })
      if (signal.aborted) abort()
      wait()
      parts.next().then(resolve, reject)
      return promise.finally(() => {
        wait = doNothing
        cancel()
        signal.removeEventListener("abort", abort)
      })
    }

    try {
      while (true) {
        const { done, value } = await next()
        if (done) return
        phase = "idle"
        yield value
        if (value.type === "finish") return
      }
    } catch (error) {
      ending.abort(error)
      throw error
    } finally {
      signal.removeEventListener("abort", stop)
      parts.return?.().catch(() => {})
    }
  }

  return wrapModel(model, (request) => closableStream(request.signal, (signal) => watch(request, signal)))
}

function timeoutError(id: string, phase: "connect" | "think" | "idle", ms: number): ModelError {
  const seconds = `${ms / 1000} s`
  if (phase === "connect") {
    return new ModelError(`${id} did not answer within ${seconds}. Check the base URL, or raise connectMs.`, {
      code: "timeout",
      retryable: true,
    })
  }
  const option = phase === "think" ? "firstPartMs" : "idleMs"
  return new ModelError(
    `${id} stalled: it sent nothing for ${seconds}, and its answer had not ended. If it only thinks, raise ${option}.`,
    {
      code: "stalled",
      retryable: true,
    },
  )
}

function scheduleOnClock(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, timerMs(ms))
  return () => clearTimeout(timer)
}

function doNothing(): void {}
