// Turns the events of a run into frames of server-sent events, from the start or from the event that a client has seen
// last.
import { type AgentEvent, type EventOf, type EventType, isDelta } from "../core/event.ts"
import { continuesDelta } from "../core/event-reader.ts"
import { timerMs } from "../core/time-limit.ts"
import { toBrowserEvent } from "./browser-event.ts"
import type { EventStream, StreamOptions } from "./stream-options.ts"

/** The frames of one connection. */
export interface FrameReader {
  /** A comment at first, then the frame of the next event, or a comment after a time without an event. Undefined after
   *  the last. The caller asks for the next frame when the client can take it; the run merges deltas that arrive
   *  meanwhile. */
  next(): Promise<string | undefined>
  /** Stops reading. A pending `next` resolves with undefined. */
  stop(): void
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies and compression must pass every frame on at once.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
}

/** Returns true if the client has already seen the end of the run. `EventSource` reconnects after every end; the answer
 *  204 stops it. */
export function hasSeenEnd({ id }: EventStream, lastEventId: string | undefined): boolean {
  return id === undefined ? lastEventId?.endsWith(endMark) === true : lastEventId === `${id}${endMark}`
}

export function readFrames(source: EventStream, lastEventId: string | undefined, options: StreamOptions): FrameReader {
  const { keepAliveMs = 15_000, map } = options
  const events = source[Symbol.asyncIterator]()
  let run = source.id
  const locate = createLocator()
  let stopWaiting = () => {}
  let seen: Position | undefined
  let pending: Promise<IteratorResult<AgentEvent>> | undefined
  let hasBegun = false
  let isOver = false

  function frameOf(event: AgentEvent): string | undefined {
    run ??= event.run
    seen ??= parseEventId(run, lastEventId)
    const at = locate(event)
    const unseen = unseenPart(event, at, seen)
    const data = unseen && (map ? map(unseen) : toBrowserEvent(unseen, run))
    return data && `id: ${run}:${at.group}.${at.chars}\ndata: ${JSON.stringify(data)}\n\n`
  }

  /** Waits for the next event. Resolves with undefined when it is stopped. */
  async function nextEvent(): Promise<IteratorResult<AgentEvent> | typeof keepAlive | undefined> {
    pending ??= events.next()
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof nextEvent>>>()
    pending.then(resolve, reject)
    stopWaiting = () => resolve(undefined)
    // The connection keeps the process alive, not this timer.
    const timer = setTimeout(() => resolve(keepAlive), timerMs(keepAliveMs)).unref()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async next() {
      if (!hasBegun && !isOver) {
        hasBegun = true
        return openingFrame
      }
      while (!isOver) {
        const result = await nextEvent()
        if (result === keepAlive) return ": keep-alive\n\n"
        pending = undefined
        if (!result || isOver) return undefined
        if (result.done) {
          isOver = true
          return run === undefined ? undefined : `id: ${run}${endMark}\n\n`
        }
        const frame = frameOf(result.value)
        if (frame !== undefined) return frame
      }
      return undefined
    },
    stop() {
      if (isOver) return
      isOver = true
      stopWaiting()
      // A generator that waits for its next event ends after that event.
      events.return?.().catch(() => undefined)
    },
  }
}

const endMark = ":end"
const keepAlive = Symbol("keep-alive")

// Many servers and proxies hold the headers back until the first bytes of the body.
const openingFrame = ": open\n\n"

/** The place of an event in the stream. Consecutive deltas of one text are one group, because another reader may get
 *  them merged; `chars` is the length of the group's text up to the end of the event. */
interface Position {
  group: number
  chars: number
}

const startOfStream: Position = { group: -1, chars: 0 }

/** Returns a function that takes the events one after the other, and returns the position of each. */
function createLocator(): (event: AgentEvent) => Position {
  let last: AgentEvent | undefined
  let at = startOfStream
  return (event) => {
    const isSameGroup = last !== undefined && continuesDelta(last, event)
    at = { group: isSameGroup ? at.group : at.group + 1, chars: (isSameGroup ? at.chars : 0) + deltaLength(event) }
    last = event
    return at
  }
}

/** Returns the event, the rest of its text, or undefined, depending on what the client has seen of it. */
function unseenPart(event: AgentEvent, at: Position, seen: Position): AgentEvent | undefined {
  if (at.group !== seen.group) return at.group > seen.group ? event : undefined
  const length = Math.min(at.chars - seen.chars, deltaLength(event))
  if (length <= 0 || !isTextDelta(event)) return undefined
  return { ...event, text: event.text.slice(-length) }
}

function deltaLength(event: AgentEvent): number {
  return isTextDelta(event) ? event.text.length : 0
}

function isTextDelta(event: AgentEvent): event is TextDelta {
  return isDelta(event)
}

type TextDelta = EventOf<Extract<EventType, `${string}-delta`>>

/** The id of an event of another run, or no id of ours, means that nothing was seen. */
function parseEventId(run: string, id = ""): Position {
  const [, of, group, chars] = /^(.+):(\d{1,15})\.(\d{1,15})$/s.exec(id) ?? []
  return of === run ? { group: Number(group), chars: Number(chars) } : startOfStream
}
