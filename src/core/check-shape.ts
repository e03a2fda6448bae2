/** Whether a value that comes from outside, such as a file, has the expected form. */
export type Check = (value: unknown) => boolean

export const isText = (value: unknown): value is string => typeof value === "string"
export const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value)
export const isFlag = (value: unknown): value is boolean => typeof value === "boolean"
export const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every((each) => check(each))
}

/** An object with these members, and these others where they are there. What else it has is not looked at. */
export function objectWith(members: Record<string, Check>, others: Record<string, Check> = {}): Check {
  return (value) =>
    isObject(value) &&
    Object.entries(members).every(([name, check]) => Object.hasOwn(value, name) && check(value[name])) &&
    Object.entries(others).every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]))
}
