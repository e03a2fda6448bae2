// The clock and the randomness of a cell in a durable run.
import { createRecordedClock, createSeededRandom, unrecordedClockEffect } from "../../runtime/recorded-clock.ts"
import type { CellOptions } from "../../runtime/runtime.ts"

export interface CellClock {
  env: NonNullable<CellOptions["env"]>
  /** Returns the clock values read since the last call of this function, to be recorded. */
  takeReads(): number[]
}

/** Replays the recorded clock values, then reads the real clock. Randomness derives from the seed. `onEffect` is called
 *  once for each kind of effect that the journal does not record. */
export function createCellClock(
  recorded: readonly number[],
  seed: string,
  onEffect: (what: string) => void,
): CellClock {
  const reported = new Set<string>()
  const reportOnce = (what: string) => {
    if (reported.has(what) || reported.size >= maxReportedEffects) return
    reported.add(what)
    onEffect(what)
  }
  const { now, note, takeReads } = createRecordedClock(recorded, () => reportOnce(unrecordedClockEffect))
  return { env: { now, clock: { recorded, note }, random: createSeededRandom(seed), onEffect: reportOnce }, takeReads }
}

const maxReportedEffects = 10
