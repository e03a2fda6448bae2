// Compares the contents of two values.
import { isDeepStrictEqual, types } from "node:util"

/** Unlike `isDeepStrictEqual`, it compares each pair of objects once, so that values with shared parts take linear
 *  time. Parts that are one object in the first value must be one object in the second. */
export function haveSameContents(a: unknown, b: unknown): boolean {
  return haveEqualParts(a, b, new Map())
}

function haveEqualParts(a: unknown, b: unknown, pairs: Map<object, unknown>): boolean {
  if (Object.is(a, b)) return true
  if (!isComparedByContents(a) || !isComparedByContents(b)) return false
  if (pairs.has(a)) return pairs.get(a) === b
  pairs.set(a, b)
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && haveEqualMembers(a, b, pairs)
  if (types.isMap(a) && types.isMap(b)) return haveEqualElements([...a].flat(), [...b].flat(), pairs)
  if (types.isSet(a) && types.isSet(b)) return haveEqualElements([...a], [...b], pairs)
  const isObject = Object.getPrototypeOf(a) === Object.prototype || Object.getPrototypeOf(a) === null
  return isObject ? haveEqualMembers(a, b, pairs) : isDeepStrictEqual(a, b)
}

function haveEqualElements(left: readonly unknown[], right: readonly unknown[], pairs: Map<object, unknown>): boolean {
  return left.length === right.length && left.every((part, at) => haveEqualParts(part, right[at], pairs))
}

function haveEqualMembers(a: object, b: object, pairs: Map<object, unknown>): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && haveEqualParts(Reflect.get(a, key), Reflect.get(b, key), pairs))
}

/** Handles are Proxies and are compared by identity. */
function isComparedByContents(value: unknown): value is object {
  return typeof value === "object" && value !== null && !types.isProxy(value)
}
