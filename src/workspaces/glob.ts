// Globs, the same dialect for every workspace, matched by a state machine in linear time.
import { parseGlob } from "./glob/glob-parse.ts"
import { buildGlobStates, type GlobState } from "./glob/glob-states.ts"

/** A compiled glob. Matching takes at most (length of the path) × (length of the pattern) steps. */
export interface Glob {
  matches(path: string): boolean
  /** Returns true if a file below this folder could match. If not, the folder need not be listed. */
  mayBeBelow(folder: string): boolean
  /** The text that every matching path starts with. */
  prefix: string
}

/** Compiles a glob. The whole path must match, so `*.ts` matches files at the top only.
 *  - `*` matches any characters of one name, also none; `?` one character of a name
 *  - `**` as a whole name matches any folders, also none: `src/**` is everything below `src`
 *  - `{a,b}` matches either, and can be nested; `[a-z_]` one of these characters, `[!a-z]` any other
 *  - other characters match themselves, including a leading dot; `[*]` is a star; case matters */
export function compileGlob(pattern: string): Glob {
  const parts = parseGlob(pattern)
  const { states, start } = buildGlobStates(parts)
  const first = stateSetOf([start])
  let stateSets = new Map<string, StateSet>()
  let size = 0

  // Sets of states are cached together with their transitions.
  function stateSetOf(reached: readonly number[]): StateSet {
    const all = epsilonClosure(states, reached)
    return { states: all, accepts: all.some((state) => states[state]?.accepts), moves: new Map() }
  }

  function move(from: StateSet, character: number): StateSet {
    const known = from.moves.get(character)
    if (known) return known
    const reached = from.states.flatMap((id) => {
      const state = states[id]
      return state?.test?.(character) ? [state.to] : []
    })
    const key = reached.join()
    if (++size > maxCachedMoves) {
      stateSets = new Map()
      first.moves.clear()
      size = 0
    }
    const next = stateSets.get(key) ?? stateSetOf(reached)
    stateSets.set(key, next)
    from.moves.set(character, next)
    return next
  }

  function stateAfter(text: string): StateSet {
    let node = first
    for (let index = 0; index < text.length && node.states.length > 0; index++) {
      const character = text.codePointAt(index) ?? 0
      if (character > 0xffff) index++
      node = move(node, character)
    }
    return node
  }

  return {
    matches: (path) => stateAfter(path).accepts,
    mayBeBelow: (folder) => folder === "" || stateAfter(`${folder}/`).states.length > 0,
    prefix: parts.reduce<{ text: string; isLiteral: boolean }>(
      ({ text, isLiteral }, part) =>
        isLiteral && part.type === "character"
          ? { text: text + part.character, isLiteral }
          : { text, isLiteral: false },
      { text: "", isLiteral: true },
    ).text,
  }
}

interface StateSet {
  states: readonly number[]
  accepts: boolean
  moves: Map<number, StateSet>
}

// Usually a few characters lead from each of a few sets. The cache is cleared, in case someone tries to fill the
// memory.
const maxCachedMoves = 10_000

function epsilonClosure(states: readonly GlobState[], reached: readonly number[]): number[] {
  const all = new Set(reached)
  for (const id of all) for (const next of states[id]?.epsilon ?? []) all.add(next)
  return [...all].sort((a, b) => a - b)
}
