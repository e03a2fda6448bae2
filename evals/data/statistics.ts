// The statistics that cells of TypeScript may call. Their declarations are part of the prompt, and are paid for there.

type Values = readonly (number | null)[]

/** The number at the start of a text, without thousands separators; null if there is none. */
export function toNumber(value: string | number | null): number | null {
  if (typeof value === "number" || value === null) return value
  const found = /^\s*[-+]?[\d.]+(?:e[-+]?\d+)?/i.exec(value.replaceAll(",", ""))
  return found && Number.isFinite(Number(found[0])) ? Number(found[0]) : null
}

export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

export function mean(values: Values): number {
  const known = knownNumbers(values)
  return known.reduce((sum, value) => sum + value, 0) / known.length
}

export function median(values: Values): number {
  return quantile(values, 0.5)
}

export function quantile(values: Values, q: number): number {
  const sorted = knownNumbers(values).sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)] ?? NaN
  return low + ((sorted[Math.ceil(at)] ?? NaN) - low) * (at - Math.floor(at))
}

/** The sample standard deviation. */
export function std(values: Values): number {
  const { length } = knownNumbers(values)
  return Math.sqrt((moment(values, 2) * length) / (length - 1))
}

export function populationStd(values: Values): number {
  return Math.sqrt(moment(values, 2))
}

export function min(values: Values): number {
  return Math.min(...knownNumbers(values))
}

export function max(values: Values): number {
  return Math.max(...knownNumbers(values))
}

/** The adjusted skewness of a sample, as `skew` of pandas. */
export function skewness(values: Values): number {
  const { length } = knownNumbers(values)
  return (populationSkewness(values) * Math.sqrt(length * (length - 1))) / (length - 2)
}

export function populationSkewness(values: Values): number {
  return moment(values, 3) / moment(values, 2) ** 1.5
}

/** The excess kurtosis of the population. */
export function kurtosis(values: Values): number {
  return moment(values, 4) / moment(values, 2) ** 2 - 3
}

/** The bounds 1.5 interquartile ranges outside the quartiles. */
export function iqrBounds(values: Values): { low: number; high: number } {
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)]
  return { low: low - 1.5 * (high - low), high: high + 1.5 * (high - low) }
}

/** The bounds three standard deviations from the mean. */
export function zBounds(values: Values, population = false): { low: number; high: number } {
  const reach = 3 * (population ? populationStd(values) : std(values))
  return { low: mean(values) - reach, high: mean(values) + reach }
}

/** Pearson's coefficient with its two-tailed p-value, over the pairs without nulls. */
export function pearson(x: Values, y: Values): { r: number; p: number } {
  const pairs = x.flatMap((value, index): [number, number][] => {
    const other = y[index]
    return isKnown(value) && isKnown(other) ? [[value, other]] : []
  })
  const xs = pairs.map(([value]) => value)
  const ys = pairs.map(([, value]) => value)
  const [meanX, meanY] = [mean(xs), mean(ys)]
  const sum = (of: (pair: [number, number]) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const together = sum(([a, b]) => (a - meanX) * (b - meanY))
  const r = together / Math.sqrt(sum(([a]) => (a - meanX) ** 2) * sum(([, b]) => (b - meanY) ** 2))
  const freedom = pairs.length - 2
  return { r, p: studentP(r * Math.sqrt(freedom / (1 - r * r)), freedom) }
}

/** The p-value of the normality test of D'Agostino and Pearson, as `normaltest` of scipy. */
export function normalTest(values: Values): number {
  const n = knownNumbers(values).length
  return Math.exp(-(skewZ(populationSkewness(values), n) ** 2 + kurtosisZ(kurtosis(values) + 3, n) ** 2) / 2)
}

function skewZ(b: number, n: number): number {
  const y = b * Math.sqrt(((n + 1) * (n + 3)) / (6 * (n - 2)))
  const beta = (3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3)) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
  const w2 = -1 + Math.sqrt(2 * (beta - 1))
  return Math.asinh(y / Math.sqrt(2 / (w2 - 1))) / Math.sqrt(0.5 * Math.log(w2))
}

function kurtosisZ(b: number, n: number): number {
  const variance = (24 * n * (n - 2) * (n - 3)) / ((n + 1) ** 2 * (n + 3) * (n + 5))
  const x = (b - (3 * (n - 1)) / (n + 1)) / Math.sqrt(variance)
  const skew =
    ((6 * (n * n - 5 * n + 2)) / ((n + 7) * (n + 9))) * Math.sqrt((6 * (n + 3) * (n + 5)) / (n * (n - 2) * (n - 3)))
  const a = 6 + (8 / skew) * (2 / skew + Math.sqrt(1 + 4 / skew ** 2))
  const inner = (1 - 2 / a) / (1 + x * Math.sqrt(2 / (a - 4)))
  return (1 - 2 / (9 * a) - Math.cbrt(inner)) / Math.sqrt(2 / (9 * a))
}

function studentP(t: number, freedom: number): number {
  return Number.isFinite(t) ? incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) : 0
}

/** The regularized incomplete beta function, by its continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))]
  let fraction = d
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / (1 + even * d)
    c = 1 + even / c
    fraction *= c * d
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / (1 + odd * d)
    c = 1 + odd / c
    fraction *= c * d
    if (Math.abs(c * d - 1) < 1e-14) break
  }
  return front * fraction
}

/** Stirling's series, after the argument was shifted to where it is exact enough. */
function logGamma(x: number): number {
  if (x < 10) return logGamma(x + 1) - Math.log(x)
  return (
    (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5)
  )
}

function moment(values: Values, power: number): number {
  const center = mean(values)
  return mean(knownNumbers(values).map((value) => (value - center) ** power))
}

function knownNumbers(values: Values): number[] {
  return values.filter(isKnown)
}

function isKnown(value: number | null | undefined): value is number {
  return typeof value === "number" && !Number.isNaN(value)
}
