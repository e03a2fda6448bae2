import { randomFrom, recordedClock, unrecordedClock } from "../runtime/cells/recorded-world.ts"
import type { ExecuteOptions } from "../runtime/runtime.ts"

export interface CellClock {
  env: NonNullable<ExecuteOptions["env"]>
  /** What was read since the last call, to be recorded. */
  takeReads(): number[]
}

/** The time as it was read before, then the real one; randomness from a seed, the same each time. `onEffect` is told once by
 *  what the cell reaches outside. */
export function cellClock(recorded: readonly number[], seed: string, onEffect: (what: string) => void): CellClock {
  const told = new Set<string>()
  const tellOnce = (what: string) => {
    if (told.has(what) || told.size >= mostTold) return
    told.add(what)
    onEffect(what)
  }
  const { now, note, takeReads } = recordedClock(recorded, () => tellOnce(unrecordedClock))
  return { env: { now, clock: { recorded, note }, random: randomFrom(seed), onEffect: tellOnce }, takeReads }
}

const mostTold = 10
