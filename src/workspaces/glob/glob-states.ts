// Builds the nondeterministic state machine that `compileGlob` runs.
import type { GlobPart } from "./glob-parse.ts"

/** A state: a character that passes `test` leads to the state `to`. States in `epsilon` are entered without a
 *  character. Without `test`, `to` is unused. Characters are code points. */
export interface GlobState {
  test?: (character: number) => boolean
  to: number
  epsilon: readonly number[]
  accepts?: boolean
}

/** Builds the states from the end to the start, so that each knows its successor. */
export function buildGlobStates(parts: readonly GlobPart[]): { states: readonly GlobState[]; start: number } {
  const states: GlobState[] = [{ to: 0, epsilon: [], accepts: true }]

  function add(state: GlobState): number {
    return states.push(state) - 1
  }

  function addSingle(test: (character: number) => boolean, to: number): number {
    return add({ test, to, epsilon: [] })
  }

  function addRepeated(test: (character: number) => boolean, next: number): number {
    const id = states.length
    return add({ test, to: id, epsilon: [next] })
  }

  function addSequence(parts: readonly GlobPart[], next: number): number {
    return parts.reduceRight((after, part) => addPart(part, after), next)
  }

  function addPart(part: GlobPart, next: number): number {
    switch (part.type) {
      case "character": {
        const wanted = part.character.codePointAt(0)
        return addSingle((character) => character === wanted, next)
      }
      case "any-one":
        return addSingle(isNotSlash, next)
      case "any-of-name":
        return addRepeated(isNotSlash, next)
      case "set":
        return addSingle((character) => isNotSlash(character) && isIn(part.ranges, character) !== part.not, next)
      case "rest":
        return addSingle(any, addRepeated(any, next))
      case "folders": {
        const some = addSingle(any, addRepeated(any, addSingle(isSlash, next)))
        return add({ to: next, epsilon: [next, some] })
      }
      case "either":
        return add({ to: next, epsilon: part.choices.map((choice) => addSequence(choice, next)) })
    }
  }

  return { start: addSequence(parts, 0), states }
}

const slash = 0x2f
const isSlash = (character: number) => character === slash
const isNotSlash = (character: number) => character !== slash
const any = () => true

function isIn(ranges: readonly [number, number][], character: number): boolean {
  return ranges.some(([from, to]) => character >= from && character <= to)
}
