import type { Payload } from "./payload.ts"
import { valuesIn } from "./undo/container-contents.ts"

/** The encoded references of a payload in an order in which what is inside the data of one comes before it. Where they are
 *  inside each other, nobody can be first: one of them is decoded with the place of the other still empty. */
export function decodeOrder({ references, places, fillings }: Payload): number[] {
  const inside = new Map<object, number[]>()
  for (const [container, , number] of places) {
    const numbers = inside.get(container) ?? []
    numbers.push(number)
    inside.set(container, numbers)
  }
  const entriesOf = new Map<object, object>(fillings)
  const seen = new Set<object>()
  const begun = new Set<number>()
  const order: number[] = []
  // A stack of our own, as data may be nested deeply: what is put on it last is done first.
  const work: Task[] = references.map((_, number) => ({ enter: number })).reverse()
  for (let task = work.pop(); task; task = work.pop()) {
    if (task.leave !== undefined) order.push(task.leave)
    else if (task.enter !== undefined) {
      const reference = references[task.enter]
      if (!reference || begun.has(task.enter)) continue
      begun.add(task.enter)
      if (reference.type === "codec") work.push({ leave: task.enter }, { visit: reference }, { visit: reference.data })
      if (reference.type === "error") work.push({ visit: reference.properties })
      if (reference.type === "part") work.push({ visit: reference.value })
    } else if (typeof task.visit === "object" && task.visit !== null && !seen.has(task.visit)) {
      seen.add(task.visit)
      for (const value of [...valuesIn(task.visit), entriesOf.get(task.visit)]) work.push({ visit: value })
      for (const number of inside.get(task.visit) ?? []) work.push({ enter: number })
    }
  }
  return order
}

interface Task {
  enter?: number
  leave?: number
  visit?: unknown
}
