import type { Plan } from "./chain.ts"
import type { Point } from "./program.ts"

/** Numbers below 1 that follow from a text and KARST_SEED. */
export function seeded(text: string): () => number {
  let state = 0
  for (const character of `${process.env.KARST_SEED ?? ""}${text}`) state = (state * 31 + character.charCodeAt(0)) | 0
  // Mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many of the points by chance, always the same ones. */
export function some(count: number, seed: string): (all: readonly Point[]) => Plan[] {
  const random = seeded(seed)
  return (all) => Array.from({ length: count }, () => [pick(all, random)])
}

/** Pairs of points; the second is one of the first writes of the process that continues the run. */
export function pairs(count: number, seed: string): (all: readonly Point[]) => Plan[] {
  const random = seeded(seed)
  return (all) =>
    Array.from({ length: count }, () => [
      pick(all, random),
      { at: 1 + Math.floor((random() * all.length) / 4), before: random() < 0.5 },
    ])
}

export const each = (all: readonly Point[]): Plan[] => all.map((point) => [point])

function pick(all: readonly Point[], random: () => number): Point {
  const point = all[Math.floor(random() * all.length)]
  if (!point) throw new Error("There is no point to choose.")
  return point
}
