// A clock that replays recorded times, and random numbers from a seed: a durable run repeats both exactly.
import { createHash } from "node:crypto"

/** Keeps a program that reads the time in a loop from filling the journal. */
export const maxRecordedReads = 1_000

/** The name of the effect that reads beyond this limit are reported as. */
export const unrecordedClockEffect = "the clock, once it was looked at 1,000 times"

export function createRecordedClock(recorded: readonly number[], onFull: () => void = () => {}) {
  const reads: number[] = []
  let count = 0
  let last = 0
  const addRead = (time: number) => {
    if (count <= maxRecordedReads) reads.push(time)
    else onFull()
  }
  return {
    /** Returns the recorded times first, then the real time, which never goes back. */
    now(): number {
      const recordedTime = recorded[count++]
      last = recordedTime ?? Math.max(last, Date.now())
      if (recordedTime === undefined) addRead(last)
      return last
    },
    /** Adds times that another process read from a clock with the same recording. */
    note(times: readonly number[]): void {
      count = Math.max(count, recorded.length)
      for (const time of times) {
        count++
        addRead(time)
      }
    },
    /** Returns the new times that were read since the last call. */
    takeReads: (): number[] => reads.splice(0),
  }
}

/** Numbers in [0, 1) with 53 random bits each, made from hash blocks: the same for the same seed. */
export function createSeededRandom(seed: string): () => number {
  let block = Buffer.alloc(0)
  let at = 0
  let blocks = 0
  return () => {
    if (at + 8 > block.length) {
      block = createHash("sha512").update(`${seed}/${blocks++}`).digest()
      at = 0
    }
    const bits = block.readBigUInt64LE(at) >> 11n
    at += 8
    return Number(bits) / 2 ** 53
  }
}
