// Orders the codec references of a snapshot, so that instances inside another instance's data are decoded before it.
import type { Payload } from "./payload.ts"
import { valuesIn } from "./undo/container-contents.ts"

/** Returns reference numbers, innermost first. In a cycle, one instance is decoded before an instance inside it. */
export function decodeOrder({ references, places, fillings }: Payload): number[] {
  const referencesIn = new Map<object, number[]>()
  for (const [container, , number] of places) {
    const numbers = referencesIn.get(container) ?? []
    numbers.push(number)
    referencesIn.set(container, numbers)
  }
  const entriesOf = new Map<object, object>(fillings)
  const seen = new Set<object>()
  const entered = new Set<number>()
  const order: number[] = []
  // An explicit stack, because data may be nested deeply. The last task pushed is done first.
  type Task = { enter?: number; leave?: number; visit?: unknown }
  const work: Task[] = references.map((_, number) => ({ enter: number })).reverse()
  for (let task = work.pop(); task; task = work.pop()) {
    if (task.leave !== undefined) order.push(task.leave)
    else if (task.enter !== undefined) {
      const reference = references[task.enter]
      if (!reference || entered.has(task.enter)) continue
      entered.add(task.enter)
      if (reference.type === "codec") work.push({ leave: task.enter }, { visit: reference }, { visit: reference.data })
      if (reference.type === "error") work.push({ visit: reference.properties })
      if (reference.type === "part") work.push({ visit: reference.value })
    } else if (typeof task.visit === "object" && task.visit !== null && !seen.has(task.visit)) {
      seen.add(task.visit)
      for (const value of [...valuesIn(task.visit), entriesOf.get(task.visit)]) work.push({ visit: value })
      for (const number of referencesIn.get(task.visit) ?? []) work.push({ enter: number })
    }
  }
  return order
}
