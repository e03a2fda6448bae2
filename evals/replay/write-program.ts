// Writes the calls of a group as cells of TypeScript, by one fixed rule.
import type { Json } from "karst"
import type { CallPlace, PrintRules, ReplayCall } from "./task.ts"

export interface Cell {
  code: string
  calls: readonly ReplayCall[]
  /** The expression that has the result of each call after the cell. */
  results: ReadonlyMap<ReplayCall, string>
}

export interface ProgramRules {
  print: PrintRules
  /** True: a projection of each result is printed; otherwise the whole. */
  projects: boolean
  place(call: ReplayCall): CallPlace
  /** Returns the next free name for a variable. */
  nextName(): string
}

/** One cell for a group, or more: a call that throws ends its cell. Each call stores its result in a variable and
 *  prints it, or a projection of it. Calls of the same function become one loop. */
export function writeCells(group: readonly ReplayCall[], rules: ProgramRules): Cell[] {
  return untilFailure(byFunction(group)).map((calls) => {
    const results = new Map<ReplayCall, string>()
    const parts = sameFunction(calls).map((part) => writeCalls(part, rules, results))
    return { code: parts.join("\n"), calls, results }
  })
}

function writeCalls(calls: readonly ReplayCall[], rules: ProgramRules, results: Map<ReplayCall, string>): string {
  const [first] = calls
  if (!first) return ""
  const name = rules.nextName()
  if (calls.length === 1) {
    results.set(first, name)
    return lines(`const ${name} = await ${first.name}(${argumentText(first.input)})`, printText(name, first, rules))
  }
  for (const [index, call] of calls.entries()) results.set(call, `${name}[${index}]`)
  const { variable, values, argument } = loopOver(calls)
  const print = calls.map((call) => printText("result", call, rules)).find((text) => text !== undefined)
  return lines(
    `const ${name} = []`,
    `for (const ${variable} of [${values.join(", ")}]) {`,
    `  const result = await ${first.name}(${argument})`,
    `  ${name}.push(result)`,
    print && `  ${print}`,
    "}",
  )
}

/** Calls with one and the same argument name are a loop over its values; others a loop over whole inputs. */
function loopOver(calls: readonly ReplayCall[]): { variable: string; values: string[]; argument: string } {
  const keys = [...new Set(calls.flatMap(({ input }) => Object.keys(input)))]
  const [key] = keys
  if (key !== undefined && keys.length === 1 && calls.every(({ input }) => key in input)) {
    return { variable: key, values: calls.map(({ input }) => sourceText(input[key] ?? null)), argument: `{ ${key} }` }
  }
  return { variable: "input", values: calls.map(({ input }) => sourceText(input)), argument: "input" }
}

function printText(name: string, call: ReplayCall, { print, projects, place }: ProgramRules): string | undefined {
  return projects ? print.projection(name, call, place(call)) : print.whole(name)
}

/** A function without arguments is called without any. */
function argumentText(input: Record<string, Json>): string {
  return Object.keys(input).length === 0 ? "" : sourceText(input)
}

/** JSON as one writes it in TypeScript. */
export function sourceText(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sourceText).join(", ")}]`
  const members = Object.entries(value).map(([key, member]) => `${keyText(key)}: ${sourceText(member)}`)
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

/** Puts calls of the same function next to each other, in the order in which the functions first occur. */
function byFunction(calls: readonly ReplayCall[]): ReplayCall[] {
  return [...Map.groupBy(calls, ({ name }) => name).values()].flat()
}

function untilFailure(calls: readonly ReplayCall[]): ReplayCall[][] {
  return splitAfter(calls, (call) => call.fails)
}

function sameFunction(calls: readonly ReplayCall[]): ReplayCall[][] {
  return splitAfter(calls, (call, next) => call.name !== next?.name)
}

function splitAfter(
  calls: readonly ReplayCall[],
  isEnd: (call: ReplayCall, next: ReplayCall | undefined) => boolean,
): ReplayCall[][] {
  const parts: ReplayCall[][] = [[]]
  for (const [index, call] of calls.entries()) {
    parts.at(-1)?.push(call)
    if (isEnd(call, calls[index + 1])) parts.push([])
  }
  return parts.filter((part) => part.length > 0)
}

function lines(...texts: (string | undefined)[]): string {
  return texts.filter(Boolean).join("\n")
}
