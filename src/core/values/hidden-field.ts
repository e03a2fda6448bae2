// Attaches data to objects under a private symbol.

/** A field that only its creator can read: it does not appear in copies, JSON or key lists of the object. */
export interface HiddenField<T> {
  get(owner: object): T | undefined
  set(owner: object, value: T): void
}

/** Use this instead of a WeakMap for values that reference much memory: V8 retains WeakMap values until the old
 *  generation is collected, which would accumulate finished conversations. */
export function createHiddenField<T>(): HiddenField<T> {
  const key = Symbol()
  return {
    // Only this function writes under this key.
    get: (owner) => (owner as { [key]?: T })[key],
    set: (owner, value) => void Object.defineProperty(owner, key, { value, writable: true, configurable: true }),
  }
}
