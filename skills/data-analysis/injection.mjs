// What the skill puts into a TypeScript session; injection.d.mts has the types and what each function is for. Rows are
// plain objects, and a missing value is null, undefined, NaN or "".

export function profile(rows) {
  return columnsOf(rows).map((column) => {
    const values = rows.map((row) => row[column])
    const present = values.filter((value) => !isMissing(value))
    const numbers = present.filter((value) => typeof value === "number")
    const dates = present.filter((value) => value instanceof Date)
    return {
      column,
      types: [...new Set(present.map(typeOf))].sort(),
      missing: values.length - present.length,
      distinct: new Set(present.map(identity)).size,
      ...(numbers.length > 0 && summary(numbers)),
      ...(numbers.length === 0 && dates.length > 0 && dateRange(dates)),
    }
  })
}

export function outliers(rows, column) {
  const { q1, q3 } = summary(numbersIn(rows, column))
  const reach = 1.5 * (q3 - q1)
  return rows.filter(({ [column]: value }) => isNumber(value) && (value < q1 - reach || value > q3 + reach))
}

export function groupBy(rows, key, column) {
  checkColumns(rows, key, column)
  const groups = Map.groupBy(rows, (row) => identity(row[key]))
  const described = [...groups.values()].map((members) => {
    const numbers = members.map((row) => row[column]).filter(isNumber)
    const { mean, median } = numbers.length > 0 ? summary(numbers) : {}
    return { [key]: members[0][key], count: numbers.length, sum: sumOf(numbers), mean, median }
  })
  return described.sort((a, b) => b.sum - a.sum)
}

export function correlation(rows, x, y) {
  checkColumns(rows, x, y)
  const pairs = rows.map((row) => [row[x], row[y]]).filter((pair) => pair.every(isNumber))
  if (pairs.length < 2) throw new Error(`Only ${pairs.length} rows have numbers in both "${x}" and "${y}".`)
  const [meanX, meanY] = [0, 1].map((at) => sumOf(pairs.map((pair) => pair[at])) / pairs.length)
  const together = sumOf(pairs.map(([a, b]) => (a - meanX) * (b - meanY)))
  const apart = sumOf(pairs.map(([a]) => (a - meanX) ** 2)) * sumOf(pairs.map(([, b]) => (b - meanY) ** 2))
  return apart === 0 ? Number.NaN : together / Math.sqrt(apart)
}

function summary(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share) => {
    const place = (sorted.length - 1) * share
    const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
    return below + (above - below) * (place - Math.floor(place))
  }
  const mean = sumOf(numbers) / numbers.length
  return { min: at(0), q1: at(0.25), median: at(0.5), q3: at(0.75), max: at(1), mean }
}

function dateRange(dates) {
  const sorted = dates.toSorted((a, b) => a - b)
  return { min: sorted[0], max: sorted.at(-1) }
}

/** Two dates of the same time are the same value. */
function identity(value) {
  return value instanceof Date ? `date ${value.getTime()}` : value
}

function numbersIn(rows, column) {
  checkColumns(rows, column)
  const numbers = rows.map((row) => row[column]).filter(isNumber)
  if (numbers.length === 0) throw new Error(`There are no numbers in "${column}".`)
  return numbers
}

function checkColumns(rows, ...columns) {
  const there = columnsOf(rows)
  const missing = columns.find((column) => !there.includes(column))
  if (missing !== undefined) throw new Error(`There is no column "${missing}". There is ${there.join(", ")}.`)
}

function columnsOf(rows) {
  if (!Array.isArray(rows)) throw new Error("Rows must be an array of objects.")
  return [...new Set(rows.flatMap((row) => Object.keys(row)))]
}

function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function isNumber(value) {
  return typeof value === "number" && !Number.isNaN(value)
}

function isMissing(value) {
  return value === null || value === undefined || value === "" || Number.isNaN(value) || isInvalidDate(value)
}

function isInvalidDate(value) {
  return value instanceof Date && Number.isNaN(value.getTime())
}

function typeOf(value) {
  return value instanceof Date ? "date" : Array.isArray(value) ? "array" : typeof value
}
