// Iterates over a host object from a cell, reading one element at a time.
import type { OperateOnHost, OperationTarget } from "./host-handles.ts"

export async function* iterateHostObject(target: OperationTarget, operate: OperateOnHost): AsyncGenerator<unknown> {
  // A handle of the host's iterator. It has `next` and may have `return`.
  const iterator = (await operate("iterate", target, [])) as Required<AsyncIterator<unknown>>
  let done = false
  try {
    for (;;) {
      const step = await iterator.next()
      if (step.done) {
        done = true
        return step.value
      }
      yield step.value
    }
  } finally {
    if (!done && "return" in iterator) await iterator.return()
  }
}
