// Names of bindings: which are allowed, which are reserved, and how new ones are generated.
import { ConfigError } from "../../core/errors.ts"
import { isObject } from "../../core/object.ts"
import { type Binding, type Bindings, boundValue, toBinding } from "../bindings.ts"
import { reservedPrefixes } from "../compiler/name-storage.ts"
import { finishName, finishNameProblem } from "../finish-text.ts"

/** The names that cells find besides their namespace. Bindings cannot use them. */
export const ambientNames: ReadonlySet<string> = new Set(
  (
    "Date Math clearImmediate clearInterval clearTimeout console crypto fetch global globalThis import performance " +
    `process queueMicrotask setImmediate setInterval setTimeout _ ${finishName}`
  ).split(" "),
)

/** Converts a bindings literal. Throws a `ConfigError` that lists every name that cannot be injected, with the
 *  reason. */
export function toCheckedBindings(given: Bindings, isTaken = (_name: string): boolean => false): [string, Binding][] {
  const entries = Object.entries(given).map(([name, value]): [string, Binding] => [name, toBinding(value)])
  const problems = entries.flatMap(([name, binding]) => {
    if (isTaken(name)) return `"${name}" is already there`
    if (isThenable(boundValue(binding))) return `"${name}" is a promise: await it before you inject it`
    const problem = nameProblem(name, ambientNames)
    return problem === undefined ? [] : `"${name}" ${problem}`
  })
  if (problems.length > 0) throw new ConfigError(`Nothing was injected: ${problems.join("; ")}.`)
  return entries
}

export function isThenable(value: unknown): boolean {
  return isObject(value) && typeof Reflect.get(value, "then") === "function"
}

/** Explains why a name cannot be bound; undefined if it can. */
export function nameProblem(name: string, ambient: ReadonlySet<string>): string | undefined {
  if (!identifierPattern.test(name)) return "is not an identifier"
  if (reservedWords.has(name) || reservedPrefixes.some((own) => name.startsWith(own))) return "is a reserved word"
  if (name === "_") return "is the value of the last cell; choose another name"
  if (ambient.has(name) && name === finishName) return finishNameProblem
  if (ambient.has(name)) return "is what cells know the platform's own by; choose another name"
  return undefined
}

export function createNameGenerator(isTaken: (name: string) => boolean) {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  const next = (prefix: string, except: readonly string[] = []) => {
    if (!identifierPattern.test(`${prefix}_1`)) {
      throw new ConfigError(`Cannot keep a value under "${prefix}_1": the prefix must begin an identifier.`)
    }
    for (let count = (counts.get(prefix) ?? 0) + 1; ; count++) {
      const name = `${prefix}_${count}`
      if (!used.has(name) && !isTaken(name) && !except.includes(name)) return { name, count }
    }
  }
  return {
    /** Records that a name was used; it is never generated later. */
    markUsed(name: string): void {
      used.add(name)
    },
    /** Returns the first of `prefix_1`, `prefix_2`, … that was never used, and records that it is used now. */
    createName(prefix: string): string {
      const { name, count } = next(prefix)
      counts.set(prefix, count)
      used.add(name)
      return name
    },
    /** Returns the first of `prefix_1`, `prefix_2`, … that was never used and is not in `except`. */
    nextName: (prefix: string, except?: readonly string[]): string => next(prefix, except).name,
  }
}

/** `"a", "b", "c"`, for messages; `nothing` for an empty list. */
export function listNames(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.map((name) => `"${name}"`).join(", ")
}

const identifierPattern = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u

const reservedWords = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in Infinity instanceof interface let NaN new null package private " +
    "protected public return static super switch this throw true try typeof undefined using var void while with yield"
  ).split(" "),
)
