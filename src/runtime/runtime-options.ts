// Checks of the options that processRuntime and pythonRuntime share.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import * as check from "../core/checks/check-options.ts"
import { ConfigError } from "../core/errors.ts"

/** Throws a `ConfigError` for wrong options, and for options that would have no effect. */
export function checkRuntimeOptions<T extends object>(maker: string, options: T, checks: check.OptionChecks<T>): void {
  const problems = [...check.optionProblems(options, checks), ...ignoredConfinement(options)]
  if (problems.length > 0) throw new ConfigError(`${maker}(): ${problems.join("; ")}.`)
}

// Only bubblewrap enforces these options; refuse them where they would silently do nothing.
function ignoredConfinement(options: {
  isolation?: unknown
  network?: unknown
  read?: unknown
  write?: unknown
}): string[] {
  const { isolation = "process" } = options
  if (isolation !== "process") return []
  const ignored = (["network", "read", "write"] as const).filter((name) => options[name] !== undefined)
  if (ignored.length === 0) return []
  const named = ignored.map((name) => `\`${name}\``).join(", ")
  return [`${named}: nothing confines files and network without \`isolation: "os"\` (or "auto")`]
}

/** Codecs by name, made with `codec()`. */
export function mustBeCodecs(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "is not an object of codecs by name"
  const wrong = Object.entries(value).find(([, each]) => typeof each?.class !== "function")
  return wrong && `has "${wrong[0]}", which is not a codec: use codec(Class, { encode, decode })`
}

export const confinementChecks = {
  isolation: check.mustBeOneOf("process", "os", "auto"),
  network: check.mustBeOneOf("none", "all"),
  read: mustBePaths,
  write: mustBePaths,
  cwd: mustBeNonEmptyText,
  env: mustBeEnvironment,
  rules: mustBeRules,
  onWarning: check.mustBeFunction,
} satisfies Record<string, check.OptionCheck>

/** Limits by name, from 1, and limits with checks of their own. */
export function runtimeLimitChecks(names: readonly string[], others: check.OptionChecks): check.OptionCheck {
  return check.mustBeOptions({ ...Object.fromEntries(names.map((name) => [name, check.mustBeLimit(1)])), ...others })
}

export function mustBeRules(value: unknown): string | undefined {
  const isRule = (each: unknown) => check.missingMethods(each, ["check"]).length === 0
  return Array.isArray(value) && value.every(isRule) ? undefined : "is not an array of rules"
}

export function mustBeNonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? undefined : "is not a text"
}

function mustBePaths(value: unknown): string | undefined {
  const paths: unknown[] | undefined = Array.isArray(value) ? value : undefined
  if (!paths?.every((path): path is string => mustBeNonEmptyText(path) === undefined)) return "is not an array of paths"
  const missing = paths.find((path) => !existsSync(path))
  return missing === undefined ? undefined : `names "${resolve(missing)}", which is not there: make it first`
}

function mustBeEnvironment(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "is not an object of variables"
  const wrong = Object.entries(value).find(([, text]) => typeof text !== "string" && text !== undefined)
  return wrong && `has a variable ${wrong[0]} that is not a text`
}
