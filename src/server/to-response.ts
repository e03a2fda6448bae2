// Streams a run as a web `Response`, for servers with the fetch interface: Hono, Next, Deno, Bun.
import type { Run } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import type { AgentEvent } from "../core/event.ts"
import { eventStreamHeaders, hasSeenEnd, readFrames } from "./event-frames.ts"
import { checkSource, type EventStream, type StreamOptions, streamChecks } from "./stream-options.ts"

export interface ResponseOptions extends StreamOptions {
  /** The request that is answered. If it has the header `Last-Event-ID`, the stream continues after that event. */
  request?: Request | undefined
}

const responseChecks: check.OptionChecks<ResponseOptions> = {
  ...streamChecks,
  request: check.mustBe((value) => value instanceof Request, "a Request"),
}

/** Returns a response that streams a run as server-sent events until it ends. A client that disconnects does not abort
 *  the run. A client that has seen the end gets status 204. */
export function toResponse(run: Run | AsyncIterable<AgentEvent>, options: ResponseOptions = {}): Response {
  check.checkOptions("toResponse()", options, responseChecks)
  const source: EventStream = run
  checkSource("toResponse()", source, options)
  const { request, abortOnDisconnect = false } = options
  const lastEventId = request?.headers.get("last-event-id") ?? undefined
  if (hasSeenEnd(source, lastEventId)) return new Response(null, { status: 204 })

  const frames = readFrames(source, lastEventId, options)
  const encoder = new TextEncoder()
  let isOver = false

  function end(): void {
    isOver = true
    request?.signal.removeEventListener("abort", disconnect)
  }

  function disconnect(): void {
    if (isOver) return
    end()
    frames.stop()
    if (abortOnDisconnect) source.abort?.("The client disconnected.")
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const frame = await frames.next()
          if (frame !== undefined) return controller.enqueue(encoder.encode(frame))
          end()
          controller.close()
        } catch (error) {
          disconnect()
          throw error
        }
      },
      cancel: disconnect,
    },
    // An event is read only when the client can take it.
    { highWaterMark: 0 },
  )
  // Some servers do not cancel the body of a response when the client disconnects.
  request?.signal.addEventListener("abort", disconnect)
  if (request?.signal.aborted) disconnect()
  return new Response(body, { headers: eventStreamHeaders })
}
