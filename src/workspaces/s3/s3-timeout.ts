import type { AgentError } from "../../core/errors.ts"
import { abortError } from "../../core/run.ts"

/** Ends a request when its caller wants it, or when nothing happened for too long. */
export interface RequestTimer {
  signal: AbortSignal
  /** Time does not count while the caller is busy with what arrived. */
  pause(): void
  resume(): void
  stop(): void
  /** Why it was ended; undefined: it was not. */
  reason(): Error | undefined
}

export function startRequestTimer(
  outer: AbortSignal | undefined,
  timeoutMs: number,
  late: () => AgentError,
): RequestTimer {
  const controller = new AbortController()
  const end = (reason: Error) => controller.abort(reason)
  const onAbort = () => outer && end(abortError(outer))
  let timer = setTimeout(() => end(late()), timeoutMs)
  outer?.addEventListener("abort", onAbort, { once: true })
  if (outer?.aborted) onAbort()
  return {
    signal: controller.signal,
    pause: () => clearTimeout(timer),
    resume() {
      clearTimeout(timer)
      timer = setTimeout(() => end(late()), timeoutMs)
    },
    stop() {
      clearTimeout(timer)
      outer?.removeEventListener("abort", onAbort)
    },
    reason: () => (controller.signal.aborted ? controller.signal.reason : undefined),
  }
}
