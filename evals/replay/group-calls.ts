// Which calls depend on which, and which can therefore be made together.
import type { Json } from "karst"
import type { ReplayCall } from "./task.ts"

/** Groups the calls of a turn by dependency level. B depends on an earlier A if an argument of B occurs in the result
 *  of A and not in what the user said, or if either of them writes. */
export function groupCalls<C extends ReplayCall>(calls: readonly C[], userText: string): C[][] {
  const levels: number[] = []
  for (const [index, call] of calls.entries()) {
    const needed = argumentValues(call.input).filter((value) => !occursIn(value, userText))
    const depends = (earlier: ReplayCall) =>
      earlier.writes || call.writes || needed.some((value) => occursIn(value, earlier.result))
    const before = calls.slice(0, index).map((earlier, place) => (depends(earlier) ? (levels[place] ?? 0) + 1 : 0))
    levels.push(Math.max(0, ...before))
  }
  const groups: C[][] = []
  for (const [index, call] of calls.entries()) {
    const level = levels[index] ?? 0
    groups[level] = [...(groups[level] ?? []), call]
  }
  return groups.filter((group) => group !== undefined)
}

/** The texts and numbers among the arguments, and the decimal numbers within texts such as sums. */
export function argumentValues(input: Json): string[] {
  if (typeof input === "number") return [String(input)]
  if (typeof input === "string")
    return [input, ...(input.match(/\d+\.\d+/g) ?? [])].filter((value) => value.trim() !== "")
  if (typeof input !== "object" || input === null) return []
  return [...new Set(Object.values(input).flatMap(argumentValues))]
}

/** Whether a text has the value as a word of its own, in plain text or as JSON writes it. */
export function occursIn(value: string, text: string): boolean {
  return hasWord(text, value) || hasWord(text, JSON.stringify(value).slice(1, -1))
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const startsWord = !isWordCharacter(word.charAt(0)) || !isWordCharacter(text.charAt(at - 1))
    const end = at + word.length
    if (startsWord && (!isWordCharacter(word.at(-1) ?? "") || !isWordCharacter(text.charAt(end)))) return true
  }
  return false
}

function isWordCharacter(character: string): boolean {
  return /\w/.test(character)
}
