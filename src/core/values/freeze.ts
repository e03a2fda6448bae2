// Deep freezing of plain data.

/** Freezes data deeply and returns it. Objects that are already frozen are assumed to be deeply frozen, so data
 *  built from earlier data costs only what is new. Class instances and bytes are not frozen. */
export function deepFreeze<T>(value: T): T {
  const deeper: object[] = []
  freezeMember(value, 0, deeper)
  for (let next = deeper.pop(); next; next = deeper.pop()) freezeMember(next, 0, deeper)
  return value
}

// Recursion is faster than a work list; only deeper objects go to the list.
const maxRecursion = 100

function freezeMember(value: unknown, depth: number, deeper: object[]): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  if (depth > maxRecursion) deeper.push(value)
  else if (Array.isArray(value)) {
    Object.freeze(value)
    for (const item of value) if (typeof item === "object") freezeMember(item, depth + 1, deeper)
  } else if (isPlainObject(value)) {
    Object.freeze(value)
    for (const key in value) if (typeof value[key] === "object") freezeMember(value[key], depth + 1, deeper)
  }
}

function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
