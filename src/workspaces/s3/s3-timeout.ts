// Aborts a request if its caller aborts, or if nothing arrives for too long.
import type { AgentError } from "../../core/errors.ts"
import { abortError } from "../../core/run.ts"
import { timerMs } from "../../core/time-limit.ts"

export interface RequestTimer {
  signal: AbortSignal
  /** Stops the clock while the caller processes what arrived. */
  pause(): void
  resume(): void
  stop(): void
  /** Why the request was aborted; undefined if it was not. */
  reason(): Error | undefined
}

export function startRequestTimer(
  callerSignal: AbortSignal | undefined,
  timeoutMs: number,
  createTimeoutError: () => AgentError,
): RequestTimer {
  const controller = new AbortController()
  const end = (reason: Error) => controller.abort(reason)
  const onAbort = () => callerSignal && end(abortError(callerSignal))
  let timer = setTimeout(() => end(createTimeoutError()), timerMs(timeoutMs))
  callerSignal?.addEventListener("abort", onAbort, { once: true })
  if (callerSignal?.aborted) onAbort()
  return {
    signal: controller.signal,
    pause: () => clearTimeout(timer),
    resume() {
      clearTimeout(timer)
      timer = setTimeout(() => end(createTimeoutError()), timerMs(timeoutMs))
    },
    stop() {
      clearTimeout(timer)
      callerSignal?.removeEventListener("abort", onAbort)
    },
    reason: () => (controller.signal.aborted ? controller.signal.reason : undefined),
  }
}
