/** Freezes data with all that is in it, and returns it. Objects that are frozen already are taken to be so throughout, so
 *  that data which is made of earlier data costs only what is new. Instances of classes and bytes are left as they are. */
export function deepFreeze<T>(value: T): T {
  if (!isOpen(value)) return value
  const open: object[] = [value]
  for (let next = open.pop(); next; next = open.pop()) {
    Object.freeze(next)
    for (const member of Object.values(next)) if (isOpen(member)) open.push(member)
  }
  return value
}

function isOpen(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
