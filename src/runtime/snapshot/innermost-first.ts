import { heldBy } from "../undo/contents.ts"
import type { Payload } from "./payload.ts"

/** The encoded references of a payload in an order in which what is inside the data of one comes before it. Where they are
 *  inside each other, nobody can be first: one of them is decoded with the place of the other still empty. */
export function innermostFirst({ references, places, fillings }: Payload): number[] {
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
      if (reference.type === "codec") work.push({ leave: task.enter }, { look: reference }, { look: reference.data })
      if (reference.type === "error") work.push({ look: reference.properties })
      if (reference.type === "part") work.push({ look: reference.value })
    } else if (typeof task.look === "object" && task.look !== null && !seen.has(task.look)) {
      seen.add(task.look)
      for (const value of [...heldBy(task.look), entriesOf.get(task.look)]) work.push({ look: value })
      for (const number of inside.get(task.look) ?? []) work.push({ enter: number })
    }
  }
  return order
}

interface Task {
  enter?: number
  leave?: number
  look?: unknown
}
