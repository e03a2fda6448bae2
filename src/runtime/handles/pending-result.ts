/** What is known of a result that has not been awaited. */
export interface PendingResult {
  /** The call, as a program would write it. */
  readonly title: string
  isAwaited: boolean
}

const pendingResults = new WeakMap<object, PendingResult>()

/** Whether a value is the result of a remote call that was not awaited. */
export function pendingResultOf(value: unknown): PendingResult | undefined {
  return typeof value === "object" && value !== null ? pendingResults.get(value) : undefined
}

/** A promise for the result of a remote call that cannot be mistaken for the result: it can be awaited, and every other
 *  use throws and says to write `await`. The caller handles the rejection when no code awaits it. */
export function createPendingResult(
  promise: Promise<unknown>,
  title: string,
): { result: Promise<unknown>; pending: PendingResult } {
  const pending: PendingResult = { title, isAwaited: false }
  const forgotten = (use: string): never => {
    throw new TypeError(
      `The result of ${title} was not awaited, so it cannot be ${use}: write \`await\` before the call.`,
    )
  }
  // Code that uses `then`, `catch` or `finally` has awaited the result.
  const reactions: { [key: string]: unknown } = {
    then: (done?: Reaction, failed?: Reaction) => noted().then(done, failed),
    catch: (failed?: Reaction) => noted().catch(failed),
    finally: (done?: () => void) => noted().finally(done),
  }
  const noted = () => {
    pending.isAwaited = true
    return promise
  }
  const result = new Proxy(promise, {
    get(target, key) {
      if (typeof key === "string") {
        if (Object.hasOwn(reactions, key)) return reactions[key]
        return key === "constructor" ? Promise : forgotten(`read (.${key})`)
      }
      if (key === Symbol.toPrimitive) return () => forgotten("used as a value")
      if (key === Symbol.iterator) return forgotten("iterated")
      // `for await` waits for each element, and so for the result too.
      if (key === Symbol.asyncIterator) return () => elementsOf(noted(), title)
      return Reflect.get(target, key)
    },
    set: (_, key) => forgotten(`changed (.${String(key)})`),
    has: (target, key) => (typeof key === "symbol" ? Reflect.has(target, key) : forgotten("searched")),
    ownKeys: () => forgotten("listed"),
    deleteProperty: () => forgotten("changed"),
    defineProperty: () => forgotten("changed"),
  })
  pendingResults.set(result, pending)
  return { result, pending }
}

async function* elementsOf(result: Promise<unknown>, title: string): AsyncGenerator<unknown> {
  const value = await result
  if (!isIterable(value)) throw new TypeError(`The result of ${title} is not iterable.`)
  yield* value
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  if (value === null || value === undefined) return false
  const object: object = Object(value)
  return (
    typeof Reflect.get(object, Symbol.asyncIterator) === "function" ||
    typeof Reflect.get(object, Symbol.iterator) === "function"
  )
}

type Reaction = (value: unknown) => unknown
