import type { GlobPart } from "./glob-parse.ts"

/** A place in a pattern: where a character that fits leads, and which places one is in as well. */
export interface GlobState {
  test?: (character: number) => boolean
  to: number
  epsilon: readonly number[]
  accepts?: boolean
}

/** Turns parts into states, from the end to the start, so that each knows what comes next. */
export function buildGlobStates(parts: readonly GlobPart[]): { states: readonly GlobState[]; start: number } {
  const states: GlobState[] = [{ to: 0, epsilon: [], accepts: true }]

  function add(state: GlobState): number {
    return states.push(state) - 1
  }

  function one(test: GlobState["test"], to: number): number {
    return add({ ...(test && { test }), to, epsilon: [] })
  }

  function many(test: (character: number) => boolean, next: number): number {
    const id = states.length
    return add({ test, to: id, epsilon: [next] })
  }

  function sequence(parts: readonly GlobPart[], next: number): number {
    return parts.reduceRight((after, part) => before(part, after), next)
  }

  function before(part: GlobPart, next: number): number {
    switch (part.type) {
      case "character": {
        const wanted = part.character.codePointAt(0)
        return one((character) => character === wanted, next)
      }
      case "any-one":
        return one(inName, next)
      case "any-of-name":
        return many(inName, next)
      case "set":
        return one((character) => inName(character) && isIn(part.ranges, character) !== part.not, next)
      case "rest":
        return one(any, many(any, next))
      case "folders": {
        const some = one(any, many(any, one(isSlash, next)))
        return add({ to: next, epsilon: [next, some] })
      }
      case "either":
        return add({ to: next, epsilon: part.choices.map((choice) => sequence(choice, next)) })
    }
  }

  return { start: sequence(parts, 0), states }
}

const slash = 0x2f
const isSlash = (character: number) => character === slash
const inName = (character: number) => character !== slash
const any = () => true

function isIn(ranges: readonly [number, number][], character: number): boolean {
  return ranges.some(([from, to]) => character >= from && character <= to)
}
