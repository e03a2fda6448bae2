// Predicates for the shape of data that comes from outside, such as files.
import { isRecord } from "../object.ts"

/** Returns true if a value has the expected shape. */
export type ShapeCheck = (value: unknown) => boolean

export const isString = (value: unknown): value is string => typeof value === "string"
export const isFiniteNumber: ShapeCheck = (value) => typeof value === "number" && Number.isFinite(value)
export const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"

export function isListOf(check: ShapeCheck): ShapeCheck {
  return (value) => Array.isArray(value) && value.every((each) => check(each))
}

/** Accepts objects with all of `members` and, if present, valid `optional`. Ignores further members. */
export function isObjectWith(
  members: Record<string, ShapeCheck>,
  optional: Record<string, ShapeCheck> = {},
): ShapeCheck {
  const [required, others] = [Object.entries(members), Object.entries(optional)]
  return (value) =>
    isRecord(value) &&
    required.every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    others.every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]))
}
