// The queue behind each `for await` loop over a run's events.
import type { AgentEvent } from "./event.ts"

export interface EventReader {
  push(event: AgentEvent): void
  end(): void
  iterator: AsyncIterator<AgentEvent>
}

/** Creates a reader with its own queue, so that a slow reader does not delay others. Unread deltas are merged, which
 *  keeps the queue as short as the stored log. */
export function createEventReader(queue: AgentEvent[], onLeave: () => void): EventReader {
  const waiting: ((result: IteratorResult<AgentEvent>) => void)[] = []
  let finished = false
  let position = 0
  return {
    push(event) {
      const wake = waiting.shift()
      if (wake) return wake({ value: event, done: false })
      appendMerged(queue, event, position)
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
        onLeave()
        for (const wake of waiting.splice(0)) wake({ value: undefined, done: true })
        return { value: undefined, done: true }
      },
    },
  }
}

/** Appends an event, or joins a delta to the last one if both continue the same text. Entries before `from` have
 *  been handed out and are never changed. */
export function appendMerged(queue: AgentEvent[], event: AgentEvent, from = 0): void {
  const last = queue.length > from ? queue.at(-1) : undefined
  if (last && "text" in last && "text" in event && continuesDelta(last, event)) {
    queue[queue.length - 1] = Object.freeze({ ...last, text: last.text + event.text })
    return
  }
  queue.push(event)
}

/** Returns true if both are deltas of one text. The readers of a run get such events one by one or merged. */
export function continuesDelta(last: AgentEvent, event: AgentEvent): boolean {
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
