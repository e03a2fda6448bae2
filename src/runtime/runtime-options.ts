import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { ConfigError } from "../core/errors.ts"

/** What a runtime in a process of its own takes: the name of each option, with what is wrong with a value, if something is. */
export type OptionChecks = Record<string, (value: unknown) => string | undefined>

/** Refuses options that are not there, cannot be, or would be ignored, when the runtime is made: a `ConfigError` with all
 *  of them. `undefined` means the default. */
export function checkOptions(maker: string, options: object, checks: OptionChecks): void {
  const problems = [...problemsIn("", options, checks), ...unconfined(options)]
  if (problems.length > 0) throw new ConfigError(`${maker}(): ${problems.join("; ")}.`)
}

function problemsIn(prefix: string, given: object, checks: OptionChecks): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!check) return `there is no option \`${prefix}${name}\`; there is ${Object.keys(checks).join(", ")}`
    const problem = value === undefined ? undefined : check(value)
    return problem === undefined ? [] : `\`${prefix}${name}\` ${problem}`
  })
}

// What only bubblewrap can hold must not look as if it held.
function unconfined(options: { isolation?: unknown; network?: unknown; read?: unknown; write?: unknown }): string[] {
  const { isolation = "process" } = options
  if (isolation !== "process") return []
  const ignored = (["network", "read", "write"] as const).filter((name) => options[name] !== undefined)
  if (ignored.length === 0) return []
  const named = ignored.map((name) => `\`${name}\``).join(", ")
  return [`${named}: nothing confines files and network without \`isolation: "os"\` (or "auto")`]
}

/** Codecs by name, as `codec()` makes them. */
export function areCodecs(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "is not an object of codecs by name"
  const wrong = Object.entries(value).find(([, each]) => typeof each?.class !== "function")
  return wrong && `has "${wrong[0]}", which is not a codec: use codec(Class, { encode, decode })`
}

/** What both runtimes take to confine a process. */
export const confinement: OptionChecks = {
  isolation: oneOf("process", "os", "auto"),
  network: oneOf("none", "all"),
  read: arePaths,
  write: arePaths,
  cwd: isText,
  env: isEnvironment,
  rules: (value) => (Array.isArray(value) ? undefined : "is not an array of rules"),
  onWarning: (value) => (typeof value === "function" ? undefined : "is not a function"),
}

/** Limits by name, each a number; those of `fromZero` may be 0. */
export function limits(
  names: readonly string[],
  fromZero: readonly string[] = [],
): (value: unknown) => string | undefined {
  const checks = Object.fromEntries([
    ...names.map((name) => [name, isAboveZero] as const),
    ...fromZero.map((name) => [name, isNumber((value) => value >= 0, "of 0 or more")] as const),
  ])
  return (value) => {
    if (typeof value !== "object" || value === null) return "is not an object of limits"
    const problems = problemsIn("limits.", value, checks)
    return problems.length > 0 ? `cannot be: ${problems.join("; ")}` : undefined
  }
}

export const isAboveZero = isNumber((value) => value > 0, "above 0")

export function isText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? undefined : "is not a text"
}

function arePaths(value: unknown): string | undefined {
  const paths: unknown[] | undefined = Array.isArray(value) ? value : undefined
  if (!paths?.every((path): path is string => isText(path) === undefined)) return "is not an array of paths"
  const missing = paths.find((path) => !existsSync(path))
  return missing === undefined ? undefined : `names "${resolve(missing)}", which is not there: make it first`
}

function isEnvironment(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "is not an object of variables"
  const wrong = Object.entries(value).find(([, text]) => typeof text !== "string" && text !== undefined)
  return wrong && `has a variable ${wrong[0]} that is not a text`
}

function isNumber(fits: (value: number) => boolean, what: string): (value: unknown) => string | undefined {
  return (value) => (typeof value === "number" && fits(value) ? undefined : `is not a number ${what}`)
}

function oneOf(...values: string[]): (value: unknown) => string | undefined {
  const listed = values.map((value) => `"${value}"`).join(", ")
  return (value) => (values.some((each) => each === value) ? undefined : `is not one of ${listed}`)
}
