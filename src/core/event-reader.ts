import type { AgentEvent } from "./event.ts"

/** Somebody who iterates a run. */
export interface EventReader {
  push(event: AgentEvent): void
  end(): void
  iterator: AsyncIterator<AgentEvent>
}

/** Each reader has its own queue, so a slow one costs only itself; deltas it has not read yet merge, so its queue stays as
 *  small as the stored log however long the model talks. */
export function createEventReader(queue: AgentEvent[], leave: () => void): EventReader {
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
        leave()
        for (const wake of waiting.splice(0)) wake({ value: undefined, done: true })
        return { value: undefined, done: true }
      },
    },
  }
}

/** Appends, or joins a delta to the one before it when both continue the same thing. Entries before `from` were handed out
 *  already and are never touched. */
export function appendMerged(queue: AgentEvent[], event: AgentEvent, from = 0): void {
  const last = queue.length > from ? queue.at(-1) : undefined
  if (last?.type === event.type && "text" in last && "text" in event && continuesDelta(last, event)) {
    queue[queue.length - 1] = Object.freeze({ ...last, text: last.text + event.text })
    return
  }
  queue.push(event)
}

function continuesDelta(last: AgentEvent, event: AgentEvent): boolean {
  if (last.run !== event.run) return false
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
