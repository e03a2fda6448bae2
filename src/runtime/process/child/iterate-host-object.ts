import type { OperateOnHost, OperationTarget } from "./host-handles.ts"

/** The elements of an object of the host, read one at a time. */
export async function* iterateHostObject(target: OperationTarget, operate: OperateOnHost): AsyncGenerator<unknown> {
  // The handle of the host's iterator, which has `next` and perhaps `return`.
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
