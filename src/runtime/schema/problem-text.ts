// The text of validation problems, for the model and for errors. Its length has a limit, whatever the value was.
import type { Mismatch } from "./json-schema-validator.ts"

/** Lists the problems with their paths. Problems that differ only in the position within a list become one, with their
 *  number: `[].amount: expected number, received string (5,000 times)`. */
export function problemsText(problems: readonly Mismatch[]): string {
  const groups = Map.groupBy(problems, ({ path, message }) => `${pathText(path, "any")}: ${message}`)
  const lines = [...groups.values()].flatMap(linesOf)
  const shown: string[] = []
  let length = 0
  let count = 0
  for (const { text, problems: covered } of lines) {
    if (shown.length > 0 && length + text.length > maxChars) break
    shown.push(text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text)
    length += text.length
    count += covered
  }
  const left = problems.length - count
  return [...shown, ...(left > 0 ? [`and ${grouped(left)} more problem${left === 1 ? "" : "s"}`] : [])].join("; ")
}

const maxChars = 2_000

/** A group of more than this many problems is shown as one. */
const maxAlike = 3

function linesOf(alike: readonly Mismatch[]): { text: string; problems: number }[] {
  const [first] = alike
  if (!first || alike.length <= maxAlike) {
    return alike.map((problem) => ({ text: lineOf(pathText(problem.path), problem.message), problems: 1 }))
  }
  const text = `${lineOf(pathText(first.path, "any"), first.message)} (${grouped(alike.length)} times)`
  return [{ text, problems: alike.length }]
}

function lineOf(path: string, message: string): string {
  return path === "" ? message : `${path}: ${message}`
}

function pathText(path: readonly PropertyKey[], index: "exact" | "any" = "exact"): string {
  const step = (key: PropertyKey) => {
    if (typeof key !== "number") return `.${String(key)}`
    return index === "any" ? "[]" : `[${key}]`
  }
  const text = path.map(step).join("")
  return text.startsWith(".") ? text.slice(1) : text
}

const grouped = (count: number) => count.toLocaleString("en-US")
