import { ConfigError } from "../errors.ts"
import { nearestWord } from "../text/nearest-word.ts"
import { isBoolean as flag, isObject, type ShapeCheck, isString as text } from "./check-shape.ts"

/** What is wrong with the value of an option, as the end of a sentence such as "is not a text"; undefined when nothing is.
 *  A list has whole sentences about the parts of the value. `path` is the name of the option, with what it is in. */
export type OptionCheck = (value: unknown, path: string) => string | readonly string[] | undefined

/** A check for each option of an options object. */
export type OptionChecks<T extends object = Record<string, unknown>> = { readonly [K in keyof T]-?: OptionCheck }

/** Refuses options that do not exist or have the wrong type: a `ConfigError` with all of them, and the nearest option that
 *  exists for each misspelt one. An option that is `undefined` counts as not given. `use` is the function that takes them. */
export function checkOptions<T extends object>(use: string, options: T, checks: OptionChecks<T>): void {
  const problems = optionProblems(options, checks)
  if (problems.length > 0) throw new ConfigError(`${use}: ${problems.join("; ")}.`)
}

/** What is wrong with an options object, one sentence each. */
export function optionProblems<T extends object>(options: unknown, checks: OptionChecks<T>, path = ""): string[] {
  if (!isObject(options))
    return [`${path ? `\`${path}\` is` : "the options are"} not an object of options: it is ${describeValue(options)}`]
  const known = new Map<string, OptionCheck>(Object.entries(checks))
  return Object.entries(options).flatMap(([name, value]) => {
    const place = path === "" ? name : `${path}.${name}`
    const check = known.get(name)
    if (!check) return unknownOption(place, name, [...known.keys()])
    const problem = value === undefined ? [] : (check(value, place) ?? [])
    return typeof problem === "string" ? `\`${place}\` ${problem}` : problem
  })
}

function unknownOption(place: string, name: string, names: readonly string[]): string {
  const near = nearestWord(name, names)
  const hint = near === undefined ? "" : ` (did you mean \`${place.slice(0, -name.length)}${near}\`?)`
  return `there is no option \`${place}\`${hint}; there is ${names.join(", ")}`
}

/** A value for an error message: primitives as they are written, anything else by its type. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return "a list"
  return value instanceof Date || typeof value !== "object" ? `a ${typeof value}` : "an object"
}

/** The check of a predicate; `what` names the values that it accepts. */
export function mustBe(check: ShapeCheck, what: string): OptionCheck {
  return (value) => (check(value) ? undefined : `is not ${what}: it is ${describeValue(value)}`)
}

export const anything: OptionCheck = () => undefined
export const mustBeText = mustBe(text, "a text")
export const mustBeBoolean = mustBe(flag, "true or false")
export const mustBeFunction = mustBe((value) => typeof value === "function", "a function")
export const mustBeList = mustBe(Array.isArray, "a list")
export const mustBeObject = mustBe(isObject, "an object")
export const mustBeNumber = mustBe((value) => typeof value === "number" && !Number.isNaN(value), "a number")
export const mustBePositive = mustBe((value) => typeof value === "number" && value > 0, "a number above 0")
export const mustBeSignal = mustBe((value) => value instanceof AbortSignal, "an AbortSignal")
export const mustBeTextList = mustBe(
  (value) => Array.isArray(value) && value.every((each) => text(each)),
  "a list of texts",
)
/** For secrets, which must not appear in a message. */
export const mustBeSecret: OptionCheck = (value) => (typeof value === "string" ? undefined : "is not a text")

export function mustBeAtLeast(least: number): OptionCheck {
  return mustBe((value) => typeof value === "number" && value >= least, `a number of ${least} or more`)
}

export function mustBeIntegerFrom(least: number): OptionCheck {
  const fits = (value: unknown) => typeof value === "number" && (Number.isInteger(value) || value === Infinity)
  return mustBe((value) => fits(value) && Number(value) >= least, `a whole number of ${least} or more`)
}

export function mustBeOneOf(...values: readonly string[]): OptionCheck {
  const listed = values.map((value) => JSON.stringify(value)).join(", ")
  return mustBe((value) => values.some((each) => each === value), `one of ${listed}`)
}

/** Accepts what one of the checks accepts; `what` names both. */
export function mustBeEither(what: string, ...checks: readonly OptionCheck[]): OptionCheck {
  return (value, path) =>
    checks.some((check) => check(value, path) === undefined)
      ? undefined
      : `is not ${what}: it is ${describeValue(value)}`
}

/** An options object within another. */
export function mustBeOptions<T extends object>(checks: OptionChecks<T>): OptionCheck {
  return (value, path) => {
    const problems = optionProblems(value, checks, path)
    return problems.length > 0 ? problems : undefined
  }
}

/** An object whose values all pass a check, by names of the caller's choice. */
export function mustBeRecordOf(check: OptionCheck): OptionCheck {
  return (value, path) => {
    if (!isObject(value)) return `is not an object: it is ${describeValue(value)}`
    const problems = Object.entries(value).flatMap(([name, each]) => {
      const place = `${path}.${name}`
      const problem = each === undefined ? [] : (check(each, place) ?? [])
      return typeof problem === "string" ? `\`${place}\` ${problem}` : problem
    })
    return problems.length > 0 ? problems : undefined
  }
}

/** The methods that an object lacks. */
export function missingMethods(value: unknown, methods: readonly string[]): string[] {
  if (typeof value !== "object" || value === null) return [...methods]
  return methods.filter((name) => typeof Reflect.get(value, name) !== "function")
}

/** What an object must have to be used as a workspace, runtime or store. */
export function mustImplement(methods: readonly string[], what: string): OptionCheck {
  return (value) => {
    const missing = missingMethods(value, methods)
    return missing.length === 0 ? undefined : `is not ${what}: it lacks ${missing.join(", ")}`
  }
}
