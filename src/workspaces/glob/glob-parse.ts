// Parses globs.
import { AgentError } from "../../core/errors.ts"

/** One part of a glob. `folders` is `**` with its slash: no folders or some. `rest` is `**` at the end: one or more
 *  characters. */
export type GlobPart =
  | { type: "character"; character: string }
  | { type: "any-one" | "any-of-name" | "folders" | "rest" }
  | { type: "set"; not: boolean; ranges: [number, number][] }
  | { type: "either"; choices: GlobPart[][] }

export function parseGlob(pattern: string): GlobPart[] {
  const problem = globProblem(pattern)
  if (problem) throw invalidGlob(pattern, problem)
  const characters = [...pattern.replace(/^(\.\/+)+/, "")]
  let at = 0

  // Inside braces, a comma or the closing brace ends the sequence.
  function sequence(inBraces: boolean, startsName: boolean): GlobPart[] {
    const parts: GlobPart[] = []
    let atNameStart = startsName
    while (at < characters.length) {
      const character = characters[at] ?? ""
      if (inBraces && (character === "," || character === "}")) break
      const part = one(character, inBraces, atNameStart)
      parts.push(part)
      atNameStart = part.type === "folders" || (part.type === "character" && part.character === "/")
    }
    return parts
  }

  function one(character: string, inBraces: boolean, atNameStart: boolean): GlobPart {
    if (character === "{") return alternatives(atNameStart)
    if (character === "[") return set()
    if (character === "*") return stars(inBraces, atNameStart)
    at++
    if (character === "?") return { type: "any-one" }
    return { type: "character", character }
  }

  function stars(inBraces: boolean, atNameStart: boolean): GlobPart {
    const from = at
    while (characters[at] === "*") at++
    if (at - from < 2 || !atNameStart) return { type: "any-of-name" }
    const next = characters[at]
    if (next === "/") {
      at++
      return { type: "folders" }
    }
    const ends = next === undefined || (inBraces && (next === "," || next === "}"))
    return { type: ends ? "rest" : "any-of-name" }
  }

  function alternatives(atNameStart: boolean): GlobPart {
    const choices: GlobPart[][] = []
    do {
      at++
      choices.push(sequence(true, atNameStart))
    } while (characters[at] === ",")
    if (characters[at] !== "}") throw invalidGlob(pattern, 'has a "{" without its "}"')
    at++
    return { type: "either", choices }
  }

  function set(): GlobPart {
    const close = characters.indexOf("]", at + (/[!^]/.test(characters[at + 1] ?? "") ? 3 : 2))
    const isOpen = close < 0 || characters.slice(at, close).includes("/")
    if (isOpen) throw invalidGlob(pattern, 'has a "[" without its "]" in the same name')
    const not = /[!^]/.test(characters[at + 1] ?? "")
    const members = characters.slice(at + (not ? 2 : 1), close)
    at = close + 1
    return { type: "set", not, ranges: rangesOf(members) }
  }

  return sequence(false, true)
}

function rangesOf(members: string[]): [number, number][] {
  const ranges: [number, number][] = []
  for (let index = 0; index < members.length; index++) {
    const from = members[index]?.codePointAt(0) ?? 0
    const isRange = members[index + 1] === "-" && index + 2 < members.length
    const to = isRange ? (members[index + 2]?.codePointAt(0) ?? 0) : from
    ranges.push([from, to])
    if (isRange) index += 2
  }
  return ranges
}

function globProblem(pattern: string): string | undefined {
  if (typeof pattern !== "string" || pattern === "") return "is empty"
  if (pattern.length > maxLength) return `is longer than ${maxLength} characters`
  if (pattern.startsWith("/")) return "is absolute"
  if (pattern.includes("\\")) return "has a backslash; [*] is a star that means itself"
  if (pattern.split("/").includes("..")) return 'has ".."'
  return undefined
}

const maxLength = 2000

function invalidGlob(pattern: string, problem: string): AgentError {
  const cure = 'Write one such as "src/**/*.{ts,js}", relative to the folder that is listed.'
  return new AgentError(`${JSON.stringify(pattern)} is not a glob: it ${problem}. ${cure}`, {
    code: "invalid-glob",
    details: { glob: String(pattern) },
  })
}
