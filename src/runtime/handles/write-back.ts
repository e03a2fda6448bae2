import { isDeepStrictEqual, types } from "node:util"

/** Gives a host container the contents of a changed copy of it, so that whoever holds the container, or a part of it that
 *  the copy still has, sees the change. Returns false where the two are not containers of one kind: then assign. */
export function writeBack(target: unknown, copy: unknown): boolean {
  if (!isContainer(target) || !isContainer(copy) || types.isProxy(target) || types.isProxy(copy)) return false
  if (Object.getPrototypeOf(target) !== Object.getPrototypeOf(copy) || Object.isFrozen(target)) return false
  if (Array.isArray(target) && Array.isArray(copy)) return writeArray(target, copy)
  if (types.isMap(target) && types.isMap(copy)) return writeMap(target, copy)
  if (types.isSet(target) && types.isSet(copy)) return writeSet(target, copy)
  if (Array.isArray(target) || types.isMap(target) || types.isSet(target)) return false
  return writeObject(target as Record<string, unknown>, copy as Record<string, unknown>)
}

function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value) || types.isMap(value) || types.isSet(value)) return true
  const prototype: unknown = types.isProxy(value) ? undefined : Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The part of the target at some place, updated in place where that is possible; else the new value. */
function merged(old: unknown, next: unknown): unknown {
  if (isDeepStrictEqual(old, next)) return old
  return writeBack(old, next) ? old : next
}

function writeObject(target: Record<string, unknown>, copy: Record<string, unknown>): boolean {
  const plain = [target, copy].every((value) =>
    Object.values(Object.getOwnPropertyDescriptors(value)).every(({ get, set }) => !get && !set),
  )
  if (!plain || !Object.isExtensible(target)) return false
  for (const key of Object.keys(target)) if (!Object.hasOwn(copy, key)) Reflect.deleteProperty(target, key)
  for (const key of Object.keys(copy)) {
    const value = merged(Object.hasOwn(target, key) ? target[key] : undefined, copy[key])
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return true
}

/** Elements before and after the changed part keep their identity. In the changed part, elements are matched by index
 *  only when their number is the same: after an insertion or removal an index no longer means the same element. */
function writeArray(target: unknown[], copy: readonly unknown[]): boolean {
  if (Object.keys(copy).length !== copy.length) return false
  const shorter = Math.min(target.length, copy.length)
  let start = 0
  while (start < shorter && isDeepStrictEqual(target[start], copy[start])) start++
  let end = 0
  while (end < shorter - start && isDeepStrictEqual(target.at(-1 - end), copy.at(-1 - end))) end++
  const old = target.slice(start, target.length - end)
  const next = copy.slice(start, copy.length - end)
  const middle = old.length === next.length ? next.map((element, index) => merged(old[index], element)) : next
  const tail = target.slice(target.length - end)
  target.length = start
  for (const element of [...middle, ...tail]) target.push(element)
  return true
}

function writeMap(target: Map<unknown, unknown>, copy: ReadonlyMap<unknown, unknown>): boolean {
  const entries = [...copy].map(([key, value]) => [key, merged(target.get(key), value)] as const)
  target.clear()
  for (const [key, value] of entries) target.set(key, value)
  return true
}

function writeSet(target: Set<unknown>, copy: ReadonlySet<unknown>): boolean {
  // Only objects have an identity to keep; comparing each with each is for small sets.
  const objects = [...target].filter((element) => typeof element === "object")
  const old = objects.length > mostCompared ? [] : objects
  const elements = [...copy].map((element) =>
    typeof element === "object" ? (old.find((known) => isDeepStrictEqual(known, element)) ?? element) : element,
  )
  target.clear()
  for (const element of elements) target.add(element)
  return true
}

const mostCompared = 100
