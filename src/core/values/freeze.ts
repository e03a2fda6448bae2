// Deep freezing of plain data.

/** Freezes data deeply and returns it. Objects that are already frozen are assumed to be deeply frozen, so data
 *  built from earlier data costs only what is new. Class instances and bytes are not frozen. */
export function deepFreeze<T>(value: T): T {
  if (!canFreeze(value)) return value
  const deeper: object[] = []
  freezeWithin(value, 0, deeper)
  for (let next = deeper.pop(); next; next = deeper.pop()) freezeWithin(next, 0, deeper)
  return value
}

// Recursion is faster than a work list; only deeper objects go to the list.
const maxRecursion = 100

function freezeWithin(value: object, depth: number, deeper: object[]): void {
  Object.freeze(value)
  if (Array.isArray(value)) {
    for (const item of value) if (canFreeze(item)) freezeOrDefer(item, depth, deeper)
    return
  }
  for (const key in value) {
    const member: unknown = Reflect.get(value, key)
    if (canFreeze(member)) freezeOrDefer(member, depth, deeper)
  }
}

function freezeOrDefer(value: object, depth: number, deeper: object[]): void {
  if (depth < maxRecursion) freezeWithin(value, depth + 1, deeper)
  else deeper.push(value)
}

function canFreeze(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
