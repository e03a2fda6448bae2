// Small tests and copies of objects that many modules need.
import type { Json } from "./json.ts"

/** Returns true for objects that are neither null nor an array. */
export function isRecord(value: Json | undefined): value is { [key: string]: Json }
export function isRecord(value: unknown): value is { [key: string]: unknown }
export function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Returns true for everything that is not a primitive value. */
export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function"
}

/** Returns a copy without members that are undefined: such an option counts as absent. */
export function withoutUndefined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // The filter removed undefined; all other members have their types.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
