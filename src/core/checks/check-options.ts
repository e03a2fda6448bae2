// Checks of public options: unknown names and wrong types become one ConfigError with suggestions.
import { ConfigError } from "../errors.ts"
import { copyIfJson } from "../json.ts"
import { isRecord } from "../object.ts"
import { hideInAddresses } from "../text/hide-secrets.ts"
import { nearestWord } from "../text/nearest-word.ts"
import { isBoolean as flag, type ShapeCheck, isString as text } from "./check-shape.ts"

/** Returns what is wrong with an option's value as the end of a sentence ("is not a text"), or undefined if it is
 *  valid. A list contains complete sentences about parts of the value. `path` is the full name of the option. */
export type OptionCheck = (value: unknown, path: string) => string | readonly string[] | undefined

/** A check for each option of an options object. */
export type OptionChecks<T extends object = Record<string, unknown>> = { readonly [K in keyof T]-?: OptionCheck }

/** Throws one `ConfigError` that lists all unknown options, with the nearest known name, and all options of the
 *  wrong type. Options that are `undefined` count as absent. `use` names the function that takes the options. */
export function checkOptions<T extends object>(use: string, options: T, checks: OptionChecks<T>): void {
  const problems = optionProblems(options, checks)
  if (problems.length > 0) throw new ConfigError(`${use}: ${problems.join("; ")}.`)
}

/** Throws for unknown options alone: the function itself checks the values. */
export function checkOptionNames<T extends object>(use: string, options: T, ...names: (keyof T & string)[]): void {
  checkOptions<object>(use, options, Object.fromEntries(names.map((name) => [name, anything])))
}

/** Returns the options. Throws for unknown ones; allocates nothing if there are none, for calls that are made often. */
export function knownOptions<O extends object | undefined>(use: string, options: O, names: NamesOf<O>): O {
  let areKnown = options === undefined || isRecord(options)
  for (const name in options) areKnown &&= name in names
  if (!areKnown) checkOptionNames<object>(use, options as NonNullable<O>, ...(Object.keys(names) as never[]))
  return options
}

// An object, so that the compiler finds a missing name.
type NamesOf<O> = { readonly [K in keyof NonNullable<O>]-?: true }

/** Throws if a function that has no options got an argument in their place. */
export function refuseOptions(use: string, extra: readonly unknown[]): void {
  if (extra.length > 0) throw new ConfigError(`${use} has no options. Leave out ${describeValue(extra[0])}.`)
}

/** Returns what is wrong with an options object, one sentence per problem. */
export function optionProblems<T extends object>(options: unknown, checks: OptionChecks<T>, path = ""): string[] {
  if (!isRecord(options))
    return [`${path ? `\`${path}\` is` : "the options are"} not an object of options: it is ${describeValue(options)}`]
  const known = new Map<string, OptionCheck>(Object.entries(checks))
  return Object.entries(options).flatMap(([name, value]) => {
    const fullName = path === "" ? name : `${path}.${name}`
    const check = known.get(name)
    if (!check) return unknownOption(fullName, name, [...known.keys()])
    const problem = value === undefined ? [] : (check(value, fullName) ?? [])
    return typeof problem === "string" ? `\`${fullName}\` ${problem}` : problem
  })
}

function unknownOption(fullName: string, name: string, names: readonly string[]): string {
  const near = nearestWord(name, names)
  const hint = near === undefined ? "" : ` (did you mean \`${fullName.slice(0, -name.length)}${near}\`?)`
  return `there is no option \`${fullName}\`${hint}; there is ${names.join(", ")}`
}

/** A value for an error message: primitives as written, anything else by its type. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    const shown = hideInAddresses(value)
    return JSON.stringify(shown.length > 60 ? `${shown.slice(0, 60)}…` : shown)
  }
  if (value == null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return "a list"
  return value instanceof Date || typeof value !== "object" ? `a ${typeof value}` : "an object"
}

/** Makes an option check of a predicate. `what` names the accepted values. */
export function mustBe(check: ShapeCheck, what: string): OptionCheck {
  return (value) => (check(value) ? undefined : `is not ${what}: it is ${describeValue(value)}`)
}

export const anything: OptionCheck = () => undefined
export const mustBeText = mustBe(text, "a text")
export const mustBeBoolean = mustBe(flag, "true or false")
export const mustBeFunction = mustBe((value) => typeof value === "function", "a function")
export const mustBeList = mustBe(Array.isArray, "a list")
export const mustBeObject = mustBe(isRecord, "an object")
export const mustBeMetadata = mustBe((value) => isRecord(value) && copyIfJson(value) !== undefined, "an object of JSON")
export const mustBeNumber = mustBe((value) => typeof value === "number" && !Number.isNaN(value), "a number")
export const mustBeSignal = mustBe((value) => value instanceof AbortSignal, "an AbortSignal")
export const mustBeTextList = mustBe(
  (value) => Array.isArray(value) && value.every((each) => text(each)),
  "a list of texts",
)
/** For secrets: the message does not contain the value. */
export const mustBeSecret: OptionCheck = (value) => (typeof value === "string" ? undefined : "is not a text")

const isWhole = (value: unknown, least: number) => Number.isInteger(value) && Number(value) >= least

/** For exact counts, sizes and durations. */
export function mustBeIntegerFrom(least: number): OptionCheck {
  return mustBe((value) => isWhole(value, least), `a whole number of ${least} or more`)
}

export function mustBeIntegerBetween(least: number, most: number): OptionCheck {
  return mustBe((value) => isWhole(value, least) && Number(value) <= most, `a whole number from ${least} to ${most}`)
}

/** For limits and time-outs: `Infinity` means no limit. */
export function mustBeLimit(least: number): OptionCheck {
  const what = `a whole number of ${least} or more, or Infinity for no limit`
  return mustBe((value) => value === Infinity || isWhole(value, least), what)
}

export function mustBeOneOf(...values: readonly string[]): OptionCheck {
  const listed = values.map((value) => JSON.stringify(value)).join(", ")
  return mustBe((value) => values.some((each) => each === value), `one of ${listed}`)
}

/** Accepts values that pass one of the checks. `what` names the accepted values. */
export function mustBeEither(what: string, ...checks: readonly OptionCheck[]): OptionCheck {
  return (value, path) =>
    checks.some((check) => check(value, path) === undefined)
      ? undefined
      : `is not ${what}: it is ${describeValue(value)}`
}

/** Checks an options object that is the value of an option. */
export function mustBeOptions<T extends object>(checks: OptionChecks<T>): OptionCheck {
  return (value, path) => {
    const problems = optionProblems(value, checks, path)
    return problems.length > 0 ? problems : undefined
  }
}

/** Checks an option that is true, false or an options object. */
export function mustBeBooleanOrOptions<T extends object>(checks: OptionChecks<T>): OptionCheck {
  return (value, path) => (typeof value === "boolean" ? undefined : mustBeOptions(checks)(value, path))
}

/** Checks that a value is an object whose members all pass a check. */
export function mustBeRecordOf(check: OptionCheck): OptionCheck {
  return (value, path) => {
    if (!isRecord(value)) return `is not an object: it is ${describeValue(value)}`
    const problems = Object.entries(value).flatMap(([name, each]) => {
      const fullName = `${path}.${name}`
      const problem = each === undefined ? [] : (check(each, fullName) ?? [])
      return typeof problem === "string" ? `\`${fullName}\` ${problem}` : problem
    })
    return problems.length > 0 ? problems : undefined
  }
}

/** Returns the names of methods that an object does not have. */
export function missingMethods(value: unknown, methods: readonly string[]): string[] {
  if (typeof value !== "object" || value === null) return [...methods]
  return methods.filter((name) => typeof Reflect.get(value, name) !== "function")
}

/** Checks that an object can be used as a workspace, runtime or store. `makers` names functions that make one. */
export function mustImplement<T = never>(
  methods: readonly (keyof T & string)[],
  what: string,
  makers?: string,
): OptionCheck {
  return (value) => {
    const missing = missingMethods(value, methods)
    if (missing.length === 0) return undefined
    const why = isRecord(value) ? `it lacks ${missing.join(", ")}` : `it is ${describeValue(value)}`
    return `is not ${what}: ${why}${makers === undefined ? "" : `. Make one with ${makers}`}`
  }
}
