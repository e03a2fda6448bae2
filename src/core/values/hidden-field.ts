/** Something about objects that only who has this sees: it is in no copy of them, no JSON and no list of keys. */
export interface HiddenField<T> {
  get(owner: object): T | undefined
  set(owner: object, value: T): void
}

/** For what leads to much, in place of a `WeakMap`: the engine holds on to the values of one until old memory is collected,
 *  and conversations that nobody has any more would be copied there, run after run. */
export function createHiddenField<T>(): HiddenField<T> {
  const key = Symbol()
  return {
    // Under this key there is nothing else.
    get: (owner) => (owner as { [key]?: T })[key],
    set: (owner, value) => void Object.defineProperty(owner, key, { value, writable: true, configurable: true }),
  }
}
