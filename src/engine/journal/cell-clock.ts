import { createRecordedClock, createSeededRandom, unrecordedClockEffect } from "../../runtime/recorded-clock.ts"
import type { CellOptions } from "../../runtime/runtime.ts"

export interface CellClock {
  env: NonNullable<CellOptions["env"]>
  /** What was read since the last call, to be recorded. */
  takeReads(): number[]
}

/** The time as it was read before, then the real one; randomness from a seed, the same each time. `onEffect` is told once by
 *  what the cell reaches outside. */
export function createCellClock(
  recorded: readonly number[],
  seed: string,
  onEffect: (what: string) => void,
): CellClock {
  const told = new Set<string>()
  const tellOnce = (what: string) => {
    if (told.has(what) || told.size >= maxReportedEffects) return
    told.add(what)
    onEffect(what)
  }
  const { now, note, takeReads } = createRecordedClock(recorded, () => tellOnce(unrecordedClockEffect))
  return { env: { now, clock: { recorded, note }, random: createSeededRandom(seed), onEffect: tellOnce }, takeReads }
}

const maxReportedEffects = 10
