// The options that `toResponse` and `toNode` share, and their checks.
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"
import type { AgentEvent } from "../core/event.ts"
import type { Json } from "../core/json.ts"
import type { BrowserEvent } from "./browser-event.ts"

export interface StreamOptions {
  /** Aborts the run if the client disconnects before the run has ended. Default false: the run continues, and the
   *  client can reconnect. */
  abortOnDisconnect?: boolean | undefined
  /** How long the stream may be silent before a comment is sent, so that proxies keep the connection. Default
   *  15,000. */
  keepAliveMs?: number | undefined
  /** What is sent for an event; undefined for nothing. Default: `toBrowserEvent`. */
  map?: ((event: AgentEvent) => BrowserEvent | { [key: string]: Json } | undefined) | undefined
}

export const streamChecks: check.OptionChecks<StreamOptions> = {
  abortOnDisconnect: check.mustBeBoolean,
  keepAliveMs: check.mustBeLimit(1),
  map: check.mustBeFunction,
}

/** Events that can be streamed: a run, or `engine.watch(id)`. */
export type EventStream = AsyncIterable<AgentEvent> & {
  readonly id?: string | undefined
  abort?(reason?: string): void
}

/** Throws if the source is not one that can be streamed with these options. */
export function checkSource(use: string, source: EventStream, { abortOnDisconnect }: StreamOptions): void {
  if (typeof source?.[Symbol.asyncIterator] !== "function") {
    throw new ConfigError(
      `${use}: ${check.describeValue(source)} has no events to send. Pass the run itself, without await: ` +
        `${use.replace("()", "")}(agent.run("…")), or engine.watch(id).`,
    )
  }
  if (abortOnDisconnect && typeof source.abort !== "function")
    throw new ConfigError(`${use}: \`abortOnDisconnect\` needs a run, which can be aborted.`)
}
