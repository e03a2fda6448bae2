/** Figures of one thing measured several times. */
export interface Stats {
  min: number
  median: number
  max: number
  rounds: number
}

/** Something that is measured: does its work once and gives the figure, in the unit of its row. */
export type Contender = () => Promise<number> | number

/** Measures all in turn, round by round, so that a busy moment of the machine hits all alike. */
export async function interleave<N extends string>(
  contenders: Record<N, Contender>,
  { rounds, warmups = 3 }: { rounds: number; warmups?: number },
): Promise<Record<N, number[]>> {
  const names = Object.keys(contenders) as N[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<N, number[]>
  for (let round = -warmups; round < rounds; round++) {
    for (const name of names) {
      const figure = await contenders[name]()
      if (round >= 0) samples[name].push(figure)
    }
  }
  return samples
}

/** Measures one thing several times, after once for warming up. */
export async function repeat(rounds: number, contender: Contender): Promise<number[]> {
  await contender()
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) samples.push(await contender())
  return samples
}

export function stats(samples: readonly number[]): Stats {
  const sorted = samples.toSorted((a, b) => a - b)
  return { min: sorted[0] ?? NaN, median: median(sorted), max: sorted.at(-1) ?? NaN, rounds: sorted.length }
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)] ?? NaN
  return ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** How many times `others` `samples` is: each round compared within itself, then the median of the rounds. */
export function ratio(samples: readonly number[], others: readonly number[]): number {
  return median(samples.map((figure, round) => figure / (others[round] ?? NaN)))
}

/** Milliseconds for each of `units` that `work` does. */
export async function perUnit(units: number, work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / units
}
