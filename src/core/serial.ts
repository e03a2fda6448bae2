// Queues that run work one after another.

/** Runs work one after another, in order. Failed work does not stop the queue. */
export type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>

export function serialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}

/** Runs work with the same key one after another, in order; work with different keys runs concurrently. */
export type KeyedSerialQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function keyedSerialQueue(): KeyedSerialQueue {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work)
    const done = result
      .catch(() => {})
      .then(() => {
        if (last.get(key) === done) last.delete(key)
      })
    last.set(key, done)
    return result
  }
}
