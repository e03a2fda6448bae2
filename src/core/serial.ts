// Runs work one after another, or a few at a time.

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

/** Works on at most `concurrency` items at a time, and resolves with the results in the order of the items. Rejects as
 *  soon as work on one item fails; the work on the others continues. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  const left = items.entries()
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}
