// Type tests of unknown values. Neither runs code of the value.

/** Returns true for every object and function. */
export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

/** Returns true for an object that is no array and no function. */
export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
