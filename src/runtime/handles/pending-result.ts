// The result of a remote call before it is awaited: a promise that throws if it is used as the result itself.
// Unawaited failures are reported to the calling cell.
import type { Caller } from "./caller.ts"

export interface PendingResult {
  /** The call as an expression, for error messages. */
  readonly title: string
  isAwaited: boolean
}

const pendingResults = new WeakMap<object, PendingResult>()

/** Returns the state of a remote call's result, or undefined if the value is none. */
export function pendingResultOf(value: unknown): PendingResult | undefined {
  return typeof value === "object" && value !== null ? pendingResults.get(value) : undefined
}

/** Creates a promise for the result of a remote call. Any use other than awaiting it throws an error that says to write
 *  `await`. The caller of this function handles the rejection if no code awaits the promise. */
export function createPendingResult(
  promise: Promise<unknown>,
  title: string,
): { result: Promise<unknown>; pending: PendingResult } {
  const pending: PendingResult = { title, isAwaited: false }
  const refuseUse = (use: string): never => {
    throw new TypeError(
      `The result of ${title} was not awaited, so it cannot be ${use}: write \`await\` before the call.`,
    )
  }
  // Code that uses `then`, `catch` or `finally` counts as awaiting the result.
  const reactions: { [key: string]: unknown } = {
    then: (done?: Reaction, failed?: Reaction) => markAwaited().then(done, failed),
    catch: (failed?: Reaction) => markAwaited().catch(failed),
    finally: (done?: () => void) => markAwaited().finally(done),
  }
  const markAwaited = () => {
    pending.isAwaited = true
    return promise
  }
  const result = new Proxy(promise, {
    get(target, key) {
      if (typeof key === "string") {
        if (Object.hasOwn(reactions, key)) return reactions[key]
        return key === "constructor" ? Promise : refuseUse(`read (.${key})`)
      }
      if (key === Symbol.toPrimitive) return () => refuseUse("used as a value")
      if (key === Symbol.iterator) return refuseUse("iterated")
      // `for await` awaits each element, and so the result too.
      if (key === Symbol.asyncIterator) return () => elementsOf(markAwaited(), title)
      return Reflect.get(target, key)
    },
    set: (_, key) => refuseUse(`changed (.${String(key)})`),
    has: (target, key) => (typeof key === "symbol" ? Reflect.has(target, key) : refuseUse("searched")),
    ownKeys: () => refuseUse("listed"),
    deleteProperty: () => refuseUse("changed"),
    defineProperty: () => refuseUse("changed"),
  })
  pendingResults.set(result, pending)
  return { result, pending }
}

/** Wraps the result of a call that host code makes for a cell. Host code such as an event emitter may not await it. A
 *  failure then goes to the caller, or to `onFailure` if there is none. It is never an unhandled rejection. */
export function reportIfUnawaited(
  promise: Promise<unknown>,
  title: string,
  caller: Caller | undefined,
  { onSuccess, onFailure }: { onSuccess?(): void; onFailure?(error: unknown): void },
): Promise<unknown> {
  const { result, pending } = createPendingResult(promise, `${title}(…)`)
  const settled = promise.then(
    async () => {
      if (!onSuccess || pending.isAwaited) return
      await nextTurn()
      if (!pending.isAwaited) onSuccess()
    },
    async (error: unknown) => {
      await nextTurn()
      if (pending.isAwaited) return
      if (caller) caller.fail(error)
      else onFailure?.(error)
    },
  )
  caller?.waitFor(settled)
  return result
}

// By then, code that awaits the promise has attached its handlers.
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
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
