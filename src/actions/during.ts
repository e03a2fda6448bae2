/** Yields what `work` emits while it is under way, then returns what it comes to. */
export async function* during<E, T>(work: (emit: (event: E) => void) => Promise<T>): AsyncGenerator<E, T> {
  const queue: E[] = []
  let wake: (() => void) | undefined
  let settled = false
  const outcome = work((event) => {
    queue.push(event)
    wake?.()
  }).finally(() => {
    settled = true
    wake?.()
  })
  // The error is thrown below, when the queue is empty; until then it must not count as unhandled.
  outcome.catch(() => undefined)
  for (;;) {
    yield* queue.splice(0)
    if (settled && queue.length === 0) return await outcome
    if (queue.length > 0) continue
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
}
