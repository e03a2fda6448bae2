// Restores injected containers without replacing them.
import { types } from "node:util"
import { isPlainContainer } from "../bindings/used-objects.ts"

/** Gives the host's own container new contents. Returns false, without any change, if that is not possible. */
export function fillInPlace(target: unknown, source: unknown): boolean {
  if (target === source) return true
  if (typeof target !== "object" || target === null || typeof source !== "object" || source === null) return false
  if (types.isProxy(target) || !Object.isExtensible(target) || Object.isSealed(target)) return false
  if (Object.getPrototypeOf(target) !== Object.getPrototypeOf(source)) return false
  // Instances may have private fields, which cannot be copied.
  if (!isPlainContainer(target)) return false
  if (types.isMap(target) && types.isMap(source)) {
    target.clear()
    for (const [key, value] of source) target.set(key, value)
  } else if (types.isSet(target) && types.isSet(source)) {
    target.clear()
    for (const member of source) target.add(member)
  } else {
    for (const key of Object.keys(target)) Reflect.deleteProperty(target, key)
    if (Array.isArray(target) && Array.isArray(source)) target.length = source.length
    for (const key of Object.keys(source)) {
      Object.defineProperty(target, key, Object.getOwnPropertyDescriptor(source, key) ?? {})
    }
  }
  return true
}
