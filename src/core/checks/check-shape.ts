/** Whether a value that comes from outside, such as a file, has the expected form. */
export type ShapeCheck = (value: unknown) => boolean

export const isString = (value: unknown): value is string => typeof value === "string"
export const isFiniteNumber: ShapeCheck = (value) => typeof value === "number" && Number.isFinite(value)
export const isBoolean = (value: unknown): value is boolean => typeof value === "boolean"
export const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export function isListOf(check: ShapeCheck): ShapeCheck {
  return (value) => Array.isArray(value) && value.every((each) => check(each))
}

/** An object with these members, and these others where they are there. What else it has is not looked at. */
export function isObjectWith(members: Record<string, ShapeCheck>, others: Record<string, ShapeCheck> = {}): ShapeCheck {
  return (value) =>
    isObject(value) &&
    Object.entries(members).every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    Object.entries(others).every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]))
}
