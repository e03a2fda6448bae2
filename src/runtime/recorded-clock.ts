import { createHash } from "node:crypto"

/** A clock that can be told what it showed before. */
export interface RecordedClock {
  /** What was recorded, as long as there is some; then the real time, which never goes back. */
  now(): number
  /** What a clock like this one showed elsewhere. */
  note(reads: readonly number[]): void
  /** What was read since the last call and was not recorded before. */
  takeReads(): number[]
}

// A program that asks for the time in a loop must not fill the journal.
const maxRecordedReads = 1_000

/** What it is called when it is looked at beyond that. */
export const unrecordedClockEffect = "the clock, once it was looked at 1,000 times"

export function createRecordedClock(recorded: readonly number[], onFull: () => void = () => {}): RecordedClock {
  const reads: number[] = []
  let count = 0
  let last = 0
  const note = (read: number) => {
    if (count <= maxRecordedReads) reads.push(read)
    else onFull()
  }
  return {
    now() {
      const before = recorded[count++]
      last = before ?? Math.max(last, Date.now())
      if (before === undefined) note(last)
      return last
    },
    note(read) {
      count = Math.max(count, recorded.length)
      for (const each of read) {
        count++
        note(each)
      }
    },
    takeReads: () => reads.splice(0),
  }
}

/** Numbers in [0, 1) with 53 random bits each, drawn from blocks of a hash: the same for the same seed. */
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
