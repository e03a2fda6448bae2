// Derives a plan from the text of a question: columns and operations, by rule. Nothing here knows a particular
// question.
import { definesColumn, deriveFormula } from "./derive-formula.ts"
import { conditionsOf, type KeyRows, rowsOfKeys } from "./derive-rows.ts"
import { findColumns } from "./find-columns.ts"
import type { Computed, Outliers, Plan, PlannedAnswer, Rows, Statistic, Value } from "./plan.ts"
import { type AnswerField, type AskedQuestion, answerFields } from "./questions.ts"
import type { Column } from "./tables.ts"
import { deriveVerdict } from "./verdicts.ts"

/** What is known while a question is read. */
export interface Reading {
  question: AskedQuestion
  /** The question and its constraints, in lower case. */
  text: string
  columns: readonly Column[]
  /** The new column that the question defines. */
  derived?: Plan["derived"]
  /** The columns that the question names; without any, those that its constraints name. */
  named: readonly Column[]
  /** The two columns of a correlation. */
  pair: readonly [Column, Column] | undefined
  rows: Rows
  /** The rows that an answer is about, if its name says so. */
  rowsOf(key: string): KeyRows
}

/** A plan, or the reason why the rules do not cover the question. */
export function derivePlan(question: AskedQuestion, columns: readonly Column[]): Plan | { uncovered: string } {
  const text = `${question.question}\n${question.constraints}`
  const refused = beyondRules.find(([pattern]) => pattern.test(text))
  if (refused) return { uncovered: refused[1] }
  const reading = readQuestion(question, columns)
  if (!reading.derived && definesColumn(question.question)) return { uncovered: "a new column that no rule reads" }
  const values: Computed[] = []
  const answers: PlannedAnswer[] = []
  for (const field of answerFields(question.format)) {
    const derived = deriveVerdict(field, reading) ?? deriveValue(field, reading)
    if (!derived) return { uncovered: `no rule derives "${field.key}"` }
    const { key, text: answerText } = derived.answer
    const names = derived.values.map((computed) => addValue(values, computed))
    const own = (printed: ReadonlyMap<string, string>) =>
      new Map(derived.values.map(({ name }, index) => [name, printed.get(names[index] ?? "") ?? ""]))
    answers.push({ key, text: (printed) => answerText(own(printed)) })
  }
  if (answers.length === 0) return { uncovered: "the format names no answers" }
  return { derived: reading.derived, values, answers }
}

/** Adds a value unless it is there already, and returns the name under which it is printed. */
function addValue(values: Computed[], computed: Computed): string {
  const same = ({ decimals, value }: Computed) => JSON.stringify([decimals, value])
  const known = values.find((each) => same(each) === same(computed))
  if (!known) values.push(computed)
  return known?.name ?? computed.name
}

export interface Derived {
  values: Computed[]
  answer: PlannedAnswer
}

const beyondRules: [RegExp, string][] = [
  [/machine learning|regression model|predict|classif(?:ier|ication)|train/i, "machine learning"],
  [/shapiro/i, "Shapiro-Wilk test"],
  [/anova|mann-whitney|kolmogorov|chi-square/i, "a statistical test without a rule"],
  [/t-test/i, "a comparison of two groups by a test"],
  [/imput|normaliz|preprocess(?!ing steps)|encod/i, "preprocessing in several steps"],
  [/categoriz|binning|extract/i, "a new column of categories"],
  [/(?:greater|less|higher|lower|more) than the average/i, "a condition on an average"],
  [/for each country|each city|for each continent/i, "groups that the text does not list"],
]

function readQuestion(question: AskedQuestion, columns: readonly Column[]): Reading {
  const derived = deriveFormula(question, columns)
  const all = derived ? [...columns, derivedColumn(derived.name)] : columns
  const first = findColumns(question.question, all)
  const named = first.length > 0 ? first : findColumns(question.constraints, all)
  const text = `${question.question}\n${question.constraints}`.toLowerCase()
  const conditions = conditionsOf(question, columns)
  const reading = { question, text, columns: all, derived, named, rows: { conditions } }
  return { ...reading, pair: pairOf(reading), rowsOf: rowsOfKeys(question, columns) }
}

function derivedColumn(name: string): Column {
  return { name, type: "number", hasNulls: false, values: [] }
}

/** A correlation is between the two columns after "between", or the first two that are named. */
function pairOf({ question, columns, derived }: Omit<Reading, "pair" | "rowsOf">): Reading["pair"] {
  const texts = [question.question, question.constraints, `${question.question}\n${question.constraints}`]
  const between = texts.flatMap((text) => /between (.+?)(?: for |[.?]|$)/is.exec(text)?.[1] ?? [])
  for (const text of between) {
    const [x, y] = text
      .split(/ and (?:the )?/i)
      .map((half) => inBrackets(half, columns) ?? findColumns(half, columns)[0])
    if (x && y && x !== y) return [x, y]
  }
  for (const text of [...between, ...texts]) {
    const found = findColumns(text, columns, 2)
    const own = derived && !between.includes(text) ? found.toSorted((a) => (a.name === derived.name ? -1 : 0)) : found
    const [x, y] = own
    if (x && y) return [x, y]
  }
  return undefined
}

/** "ticket class (Pclass)" means the column in brackets. */
function inBrackets(text: string, columns: readonly Column[]): Column | undefined {
  return columns.find(({ name }) => text.includes(`(${name})`))
}

/** The value that an answer asks for by its name. */
function deriveValue(field: AnswerField, reading: Reading): Derived | undefined {
  const value = answerValue(field, reading)
  if (!value) return undefined
  const { key } = field
  const isText = value.type === "most missing" || (value.type === "row value" && value.column.type === "text")
  const decimals = isText ? -1 : decimalsOf(field, reading.question, value)
  return { values: [{ name: key, decimals, value }], answer: { key, text: (printed) => printed.get(key) ?? "" } }
}

function answerValue({ key, placeholder }: AnswerField, reading: Reading): Value | undefined {
  const name = key.replaceAll("_", " ").toLowerCase()
  const { text, rows } = reading
  const own = reading.rowsOf(key)
  if (own === "unclear" || /within|highest average/.test(name)) return undefined
  const ownRows: Rows = own ? { conditions: [...rows.conditions, ...own] } : rows
  if (/p value|pvalue/.test(name)) return pValue(reading, ownRows)
  if (/correlation|pearson|r value/.test(name) && !/variable|pair/.test(name)) {
    const columns = keyPair(key, reading) ?? reading.pair
    return columns && { type: "correlation", columns, part: "r", rows: ownRows }
  }
  if (/determination|r squared/.test(name) && reading.pair)
    return { type: "correlation", columns: reading.pair, part: "r2", rows: ownRows }
  const column = columnOf(key, reading)
  if (/which column/.test(text) && /missing/.test(name)) return { type: "most missing" }
  if (/missing|null/.test(text) && /missing|null|percentage/.test(name)) {
    return column && { type: "missing", column, as: /percentage/.test(text) ? "percentage" : "count" }
  }
  const label = rowValue(name, reading)
  if (label) return label
  if (!column) return undefined
  const outliers = outliersOf(column, reading)
  if (/outlier/.test(name) && outliers) {
    const chosen: Rows = { ...ownRows, outliers: { ...outliers, keep: /without/.test(name) ? "others" : "outliers" } }
    const statistic = statisticOf(name.replace("range low", "minimum").replace("range high", "maximum"), text)
    if (statistic) return { type: "statistic", statistic, column, rows: chosen }
    return /\bcount\b|number|total|outliers?$/.test(name) ? { type: "count", rows: chosen } : undefined
  }
  const removes = outliers && /remov|prun|without these outliers/.test(text)
  const remaining: Rows = removes ? { ...ownRows, outliers: { ...outliers, keep: "others" } } : ownRows
  if (/left|remaining/.test(name)) return removes ? { type: "count", rows: remaining } : undefined
  const statistic = statisticOf(name, text) ?? statisticOf(placeholder.replaceAll("_", " ").toLowerCase(), text)
  // A column that chooses the rows is not the one that is asked about.
  if (statistic && remaining.conditions.some((each) => each.column.name === column.name)) return undefined
  if (statistic) return { type: "statistic", statistic, column, rows: remaining }
  const isCount = /count|total|number of/.test(name) || /how many/.test(text)
  return isCount && remaining.conditions.length > 0 ? { type: "count", rows: remaining } : undefined
}

function pValue({ text, pair, named }: Reading, rows: Rows): Value | undefined {
  if (/correlation/.test(text) && pair) return { type: "correlation", columns: pair, part: "p", rows }
  const [column] = named
  return /normaltest/.test(text) && column ? { type: "normal test", column, rows } : undefined
}

/** The column of an answer: one that its name mentions, or the first that the question does. A question about a new
 *  column is about that one. */
function columnOf(key: string, { named, columns, derived, rowsOf }: Reading): Column | undefined {
  const own = columns.find(({ name }) => name === derived?.name)
  const groups = rowsOf(key)
  const isGroup = (column: Column) => Array.isArray(groups) && groups.some((group) => group.column.name === column.name)
  const candidates = named.filter((column) => !isGroup(column))
  const [inKey] = findColumns(key.replaceAll("_", " "), candidates)
  return inKey ?? own ?? candidates[0]
}

/** The two columns in a name such as `correlation_XY`. */
function keyPair(key: string, { columns }: Reading): readonly [Column, Column] | undefined {
  const letters = /_([A-Z])([A-Z])$/.exec(key)
  const [x, y] = [1, 2].map((group) => columns.find(({ name }) => name === letters?.[group]))
  if (x && y) return [x, y]
  return undefined
}

/** "Which country has the highest score?" */
function rowValue(name: string, { question, columns, rows }: Reading): Value | undefined {
  const found =
    /which ([\w ]+?) has the (highest|lowest|maximum|minimum) (.+?)(?: in |\?|$)/i.exec(question.question) ??
    /what is the (.+?) (?:recorded |measured )?(?:during|of|for) the [\w ]+ with the (highest|lowest) (.+?)\?/i.exec(
      question.question,
    )
  if (!found || /average/i.test(found[3] ?? "")) return undefined
  const [label] = findColumns(found[1] ?? "", columns)
  const [by] = findColumns(found[3] ?? "", columns)
  const [asked = label] = findColumns(
    name,
    columns.filter((column) => column !== by),
  )
  if (!asked || !by) return undefined
  return {
    type: "row value",
    column: asked,
    by,
    at: /highest|maximum/i.test(found[2] ?? "") ? "highest" : "lowest",
    rows,
  }
}

export function outliersOf(column: Column, { text }: Pick<Reading, "text">): Outliers | undefined {
  if (!/outlier/.test(text) || /ignore any missing values or outliers/.test(text)) return undefined
  const iqr = /iqr|interquartile|quartile/.test(text)
  if (!iqr && !/z-?\s?score|standard deviations from/.test(text)) return undefined
  return { column, method: iqr ? "iqr" : "z", populationStd: /population|scipy|zscore\(/.test(text), keep: "outliers" }
}

function statisticOf(name: string, text: string): Statistic | undefined {
  if (/mean|average/.test(name)) return "mean"
  if (/median/.test(name)) return "median"
  if (/\bstd|\bsd\b|deviation/.test(name)) return /population standard/.test(text) ? "populationStd" : "std"
  if (/skew/.test(name)) return /scipy|fisher-pearson/.test(text) ? "populationSkewness" : "skewness"
  if (/kurtosis/.test(name)) return "kurtosis"
  if (/range/.test(name)) return "range"
  if (/maxim|\bmax\b|highest/.test(name)) return "max"
  return /minim|\bmin\b|lowest/.test(name) ? "min" : undefined
}

const numberWords = new Map(["zero", "one", "two", "three", "four", "five", "six"].map((word, index) => [word, index]))

/** The decimals that the format states for an answer, or for all of them, or that the constraints state. */
function decimalsOf({ placeholder }: AnswerField, { format, constraints }: AskedQuestion, value: Value): number {
  if (value.type === "count" || (value.type === "missing" && value.as === "count")) return 0
  const quoted = [`"${placeholder}"`, `'${placeholder}'`].map((name) => format.indexOf(name)).filter((at) => at !== -1)
  const about = quoted.map((at) => format.slice(at))
  for (const text of [...about, format, constraints]) {
    const found = /(\w+)[- ]decimal/i.exec(text)?.[1]?.toLowerCase()
    const count =
      found === undefined ? undefined : (numberWords.get(found) ?? (/^\d+$/.test(found) ? Number(found) : undefined))
    if (count !== undefined) return count
  }
  return /integer/.test(format) ? 0 : 2
}
