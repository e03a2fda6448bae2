import { createHash } from "node:crypto"
import type { ExecuteOptions } from "../runtime/runtime.ts"

export interface CellClock {
  env: NonNullable<ExecuteOptions["env"]>
  /** What was read since the last call, to be recorded. */
  takeReads(): number[]
}

// A program that asks for the time in a loop must not fill the journal.
const mostReads = 1_000

/** The time as it was read before, then the real one; randomness from a seed, the same each time. */
export function cellClock(recorded: readonly number[], seed: string): CellClock {
  const reads: number[] = []
  let count = 0
  let last = 0
  return {
    env: {
      now() {
        const before = recorded[count++]
        last = before ?? Math.max(last, Date.now())
        if (before === undefined && count <= mostReads) reads.push(last)
        return last
      },
      random: randomFrom(seed),
    },
    takeReads: () => reads.splice(0),
  }
}

/** Numbers in [0, 1) with 53 random bits each, drawn from blocks of a hash. */
function randomFrom(seed: string): () => number {
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
