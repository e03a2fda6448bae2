// Streams a run as the response of a Node server: node:http, Express, Fastify's `reply.raw`.
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import type { Run } from "../core/agent.ts"
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import { eventStreamHeaders, hasSeenEnd, readFrames } from "./event-frames.ts"
import { checkSource, type EventStream, type StreamOptions, streamChecks } from "./stream-options.ts"

/** Streams a run as server-sent events until it ends, and ends the response. If the request has the header
 *  `Last-Event-ID`, the stream continues after that event. Resolves when the response has ended or the client has
 *  disconnected, which does not abort the run. Rejects only if `map` throws. */
export async function toNode(
  run: Run | AsyncIterable<AgentEvent>,
  response: ServerResponse,
  options: StreamOptions = {},
): Promise<void> {
  check.checkOptions("toNode()", options, streamChecks)
  const source: EventStream = run
  checkSource("toNode()", source, options)
  if (response.headersSent)
    throw new ConfigError("toNode(): the response has already begun. Call toNode before anything is written to it.")
  const lastEventId = response.req.headers["last-event-id"]?.toString()
  if (hasSeenEnd(source, lastEventId)) return void response.writeHead(204).end()

  const frames = readFrames(source, lastEventId, options)
  const disconnected = new AbortController()
  const disconnect = () => {
    frames.stop()
    disconnected.abort()
  }
  // A write to a closed connection may emit an error; `close` follows.
  response.on("error", disconnect).on("close", disconnect)
  for (const [name, value] of Object.entries(eventStreamHeaders)) response.setHeader(name, value)
  if (response.destroyed) disconnect()
  try {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      if (response.write(frame)) continue
      await once(response, "drain", { signal: disconnected.signal }).catch(() => undefined)
    }
    if (!disconnected.signal.aborted) response.off("close", disconnect).end()
    else if (options.abortOnDisconnect) source.abort?.("The client disconnected.")
  } catch (error) {
    response.destroy()
    throw error
  } finally {
    frames.stop()
  }
}
