// Figures over many tasks: sums, medians, and the worst tenth.

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return NaN
  if (Number.isInteger(middle)) return ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
  return sorted[Math.floor(middle)] ?? NaN
}

/** The mean of the highest tenth of the values, at least one of them. */
export function worstTenth(values: readonly number[]): number {
  if (values.length === 0) return NaN
  const highest = values.toSorted((a, b) => b - a).slice(0, Math.ceil(values.length / 10))
  return sum(highest) / highest.length
}

/** How much more a value is than a base, as a ratio minus 1. */
export function change(value: number, base: number): number {
  return base === 0 ? NaN : value / base - 1
}
