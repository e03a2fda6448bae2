import { types } from "node:util"
import { isPlain } from "../declare/inspect.ts"

/** A value from Python that replaces another. A dict stands for a plain object and for a Map: it becomes a Map where the old
 *  value is one, also inside of arrays, objects and Maps. */
export function fitted(value: unknown, old: unknown): unknown {
  if (typeof value !== "object" || value === null || typeof old !== "object" || old === null) return value
  if (types.isProxy(value) || types.isProxy(old)) return value
  if (Array.isArray(value)) {
    if (Array.isArray(old)) for (const [index, item] of value.entries()) value[index] = fitted(item, old[index])
    return value
  }
  if (types.isMap(value)) {
    if (types.isMap(old)) for (const [key, item] of value) value.set(key, fitted(item, old.get(key)))
    return value
  }
  if (!isPlain(value)) return value
  if (types.isMap(old)) return new Map(Object.entries(value).map(([key, item]) => [key, fitted(item, old.get(key))]))
  if (!isPlain(old)) return value
  for (const [key, item] of Object.entries(value)) {
    const held = Object.getOwnPropertyDescriptor(old, key)?.value
    Object.defineProperty(value, key, {
      value: fitted(item, held),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return value
}
