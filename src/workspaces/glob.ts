import { parseGlob } from "./glob/glob-parse.ts"
import { buildGlobStates, type GlobState } from "./glob/glob-states.ts"

/** A compiled pattern. Time is at most (length of the path) × (length of the pattern), whatever they are. */
export interface Glob {
  matches(path: string): boolean
  /** Whether a file below this folder could match: if not, nobody needs to look into it. */
  mayBeBelow(folder: string): boolean
  /** What every path that matches begins with. */
  prefix: string
}

/** The dialect of every workspace. The whole path must match, so `*.ts` is a file at the top.
 *
 *  - `*` is any characters of one name, also none; `?` is one character of a name
 *  - `**` as a whole name is any folders, also none: `src/**` is all below `src`
 *  - `{a,b}` is either, nested as you like; `[a-z_]` is one of these characters, `[!a-z]` one of the others
 *  - all others are themselves, a leading dot too; `[*]` is a star; case counts */
export function compileGlob(pattern: string): Glob {
  const parts = parseGlob(pattern)
  const { states, start } = buildGlobStates(parts)
  const first = nodeOf([start])
  let nodes = new Map<string, StateSet>()
  let size = 0

  // The sets of states that have come up are kept with where each character leads from them.
  function nodeOf(reached: readonly number[]): StateSet {
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
      nodes = new Map()
      first.moves.clear()
      size = 0
    }
    const next = nodes.get(key) ?? nodeOf(reached)
    nodes.set(key, next)
    from.moves.set(character, next)
    return next
  }

  function after(text: string): StateSet {
    let node = first
    for (let index = 0; index < text.length && node.states.length > 0; index++) {
      const character = text.codePointAt(index) ?? 0
      if (character > 0xffff) index++
      node = move(node, character)
    }
    return node
  }

  return {
    matches: (path) => after(path).accepts,
    mayBeBelow: (folder) => folder === "" || after(`${folder}/`).states.length > 0,
    prefix: parts.reduce<{ text: string; open: boolean }>(
      ({ text, open }, part) =>
        open && part.type === "character" ? { text: text + part.character, open } : { text, open: false },
      { text: "", open: true },
    ).text,
  }
}

interface StateSet {
  states: readonly number[]
  accepts: boolean
  moves: Map<number, StateSet>
}

// A few characters lead from each of a few nodes in practice; an adversary's memory is given back.
const maxCachedMoves = 10_000

function epsilonClosure(states: readonly GlobState[], reached: readonly number[]): number[] {
  const all = new Set(reached)
  for (const id of all) for (const next of states[id]?.epsilon ?? []) all.add(next)
  return [...all].sort((a, b) => a - b)
}
